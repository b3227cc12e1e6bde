/**
 * The option `hosts`: which names a request's Host may have, so that a page whose own name was turned to this machine's
 * address (DNS rebinding) reads nothing, and no answer is made of a name that is not ours. Asked before every step but
 * health, by the listener, `fetch` and `inject`.
 */
import { isIPv4 } from 'node:net'
import { RestError } from '../base/error.ts'
import { listOf, refusal } from '../base/options.ts'

/** What a name of the option is: `api.example.com`, `*.example.com`, `127.0.0.1`, `[::1]`. */
const NAME = /^(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?$|^\[[\da-f:.]+\]$/

/** Whether a host is one of those that are served. It remembers the last that was, as the next one is mostly the same. */
export class Hosts {
	/** What `inject` sends as Host by itself. */
	readonly own: string
	readonly #isServed: (name: string) => boolean
	#last = ''
	#hasWarned = false

	constructor(own: string, isServed: (name: string) => boolean) {
		this.own = own
		this.#isServed = isServed
	}

	/** `host` may have a port, which counts for nothing. An HTTP/1.0 request may name none: no browser leaves it out. */
	serve(host: string): boolean {
		if (host === this.#last || host === '') return true
		const name = host
			.replace(/:\d*$/, '')
			.replace(/(?<=.)\.$/, '')
			.toLowerCase()
		if (!this.#isServed(name)) return false
		this.#last = host
		return true
	}

	/** Whether the log has not been told of a refusal yet: whoever scans this server can't fill it. */
	isFirstRefusal(): boolean {
		const isFirst = !this.#hasWarned
		this.#hasWarned = true
		return isFirst
	}
}

/** Loopback names alone: the default of a server that listens on loopback, where no proxy is trusted. */
export function loopbackHosts(): Hosts {
	return new Hosts('localhost', (name) => {
		if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true
		return name.startsWith('127.') && isIPv4(name)
	})
}

/** Whether an address of a listening socket is one that other machines can't reach. */
export function isLoopback(address: string): boolean {
	return address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/**
 * The hosts of the option; `undefined` where it is not given, `'*'` where all are served.
 *
 * @throws TypeError for what no Host could be
 */
export function hostsOf(where: string, option: unknown): Hosts | '*' | undefined {
	if (option === undefined || option === '*') return option
	const names = listOf("a list of names, ['api.example.com'], or '*' for all", hostName)(where, option)
	const exact = new Set(names.filter((name) => !name.startsWith('*')))
	const endings = names.filter((name) => name.startsWith('*')).map((name) => name.slice(1))
	const own = (names[0] ?? '').replace('*', 'www')
	return new Hosts(own, (name) => exact.has(name) || endings.some((ending) => name.endsWith(ending)))
}

function hostName(where: string, name: unknown): string {
	const lower = typeof name === 'string' ? name.toLowerCase() : ''
	if (NAME.test(lower)) return lower
	const why = /^(?:[^:]+|\[.*\]):\d+$/.test(lower) ? ' (leave the port out, all are served)' : ''
	throw refusal(where, `'api.example.com', '*.example.com', '127.0.0.1' or '[::1]'${why}`, name)
}

/** One for all: wrong hosts are mostly somebody's scan, and cost no stack each. */
export const MISDIRECTED: RestError = Object.freeze(
	new RestError('misdirected_request', 'This host is not served here: the option `hosts` says which are'),
)

/** What the log is told, once a server. */
export function refusedHost(host: string): string {
	return `a request for the host ${JSON.stringify(host.slice(0, 255))} was refused with 421, which is told once: the option \`hosts\` names the hosts that are served; where it is not given and this server listens on loopback, these are localhost, *.localhost, 127.0.0.0/8 and [::1], unless \`trustProxy\` is set`
}
