/** The options that hold for all calls of a client, and `Settings`: the same, checked once, as `send` takes them. */
import { isRecord } from './answer.ts'

/** What a `fetch` is called with. */
export interface FetchInit {
	readonly method: string
	readonly headers: Headers
	readonly body?: string
	readonly signal?: AbortSignal
	/** The client follows redirects by itself, within the origin. */
	readonly redirect?: 'manual'
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

/** Headers, or what makes them anew for each attempt: a token that is renewed. */
export type HeaderSource =
	| Readonly<Record<string, string>>
	| (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** What holds for all calls of a client. */
export interface SendOptions {
	/** Makes the requests. @default the platform's `fetch` */
	readonly fetch?: Fetch
	/** Headers of every request, or a function that makes them anew for each attempt. @default none */
	readonly headers?: HeaderSource
	/** Whether answers come in the envelope: what `wrap` says at the handler. @default true */
	readonly wrap?: boolean
	/**
	 * Signs each attempt. It is given the whole request; of what it answers, the headers are sent. What it throws
	 * ends the call as it is. Outside of a page it needs an endpoint with an origin.
	 *
	 *     { sign: (request) => signRequest(request, key) }
	 *
	 * @default none
	 */
	readonly sign?: (request: Request) => Request | Promise<Request>
	/** How often a read that failed in passing is asked again: 0 to 10. @default 2 */
	readonly retries?: number
	/**
	 * Whether PUT, PATCH and DELETE go as POST with `X-HTTP-Method-Override`, for networks that let them not through.
	 *
	 * @default false
	 */
	readonly methodOverride?: boolean
}

/** What holds for all calls of a client. */
export interface Settings {
	readonly fetch?: Fetch
	readonly headers?: HeaderSource
	readonly wrap: boolean
	readonly sign?: SendOptions['sign']
	readonly retries: number
	readonly methodOverride: boolean
}

/** What an option must be, as a test and in words. */
export type Check = readonly [holds: (value: unknown) => boolean, what: string]

/** What headers must be, in errors. */
export const HEADERS: string = "an object of texts, like { 'X-A': 'a' }"
const MOST_RETRIES = 10
const FUNCTION: Check = [(value) => typeof value === 'function', 'a function']
const BOOLEAN: Check = [(value) => typeof value === 'boolean', 'true or false']
const CHECKS: Readonly<Record<keyof SendOptions, Check>> = {
	fetch: FUNCTION,
	headers: [
		(value) => typeof value === 'function' || isHeaders(value),
		`${HEADERS}, or a function that answers one`,
	],
	wrap: BOOLEAN,
	sign: FUNCTION,
	retries: [
		(value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_RETRIES,
		`a whole number from 0 to ${MOST_RETRIES}`,
	],
	methodOverride: BOOLEAN,
}

const DEFAULTS: Settings = { wrap: true, retries: 2, methodOverride: false }

/**
 * The settings of a client.
 *
 * @param owner whose they are, in errors: `a CrudClient`
 * @param own what else it takes
 * @throws TypeError for an option that there isn't, or that isn't what it must be
 */
export function settingsOf(
	owner: string,
	options: SendOptions,
	own: Readonly<Record<string, Check>> = {},
): Settings {
	if (!isRecord(options)) throw new TypeError(`${owner}'s options must be an object`)
	const checks: Readonly<Record<string, Check>> = { ...CHECKS, ...own }
	checkNames(owner, options, Object.keys(checks))
	// What is undefined is left to its default.
	const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
	for (const [name, value] of Object.entries(given)) {
		const [holds, what] = checks[name] ?? []
		if (holds?.(value) === false) throw new TypeError(`${owner}'s ${name} must be ${what}`)
	}
	return { ...DEFAULTS, ...given }
}

/** @throws TypeError for an option that there isn't: misspelt, it would be left out in silence */
export function checkNames(owner: string, options: object, names: readonly string[]): void {
	const unknown = Object.keys(options).find((name) => !names.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${owner} has no option ${unknown}: there are ${names.join(', ')}`)
}

/** An object of texts. A `Headers` is none: it has no properties, and nothing of it would be sent. */
export function isHeaders(value: unknown): value is Readonly<Record<string, string>> {
	if (!isRecord(value) || Symbol.iterator in value) return false
	return Object.values(value).every((text) => typeof text === 'string')
}
