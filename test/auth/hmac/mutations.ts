/**
 * Valid signed requests, each with one thing changed on its way: none may be accepted, and what isn't changed
 * must be. What changes only how the same is written is no mutation: the case of a header's name and of a host,
 * the scheme's own port, spaces around a value or between members, an empty query (`/a` and `/a?`), the label in
 * both headers, an absolute target with the same authority, and what comes twice and is last the same: of labels
 * and parameters the last counts (RFC 9651 §3.1.2, §3.2).
 */
import * as assert from 'uvu/assert'
import { HmacAuthenticator, RestHandler } from '../../../lib/index.ts'
import { listening } from '../../helpers/listening.ts'
import { RawClient, type RawResponse } from '../../helpers/raw.ts'
import { digestOf, NOW, type Outline, SECRET, type SignedRequest, signed } from './signed-request.ts'

type Random = (below: number) => number
type Mutate = (request: SignedRequest, random: Random) => SignedRequest | undefined

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const WORD = 'abcdefghijklmnopqrstuvwxyz0123456789'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']

/** A random generator: the same numbers for the same seed. */
function randomOf(seed: number): Random {
	let state = seed
	return (below) => {
		state = (state + 0x6d2b79f5) | 0
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below
	}
}

/** Serves every path by every method. */
class Everything extends RestHandler {
	override access = { '*': 'user' } as const
	override authenticator = new HmacAuthenticator(this, undefined, 300, {
		keys: { k1: SECRET, k2: SECRET },
		clock: () => NOW * 1_000,
	})
	readonly calls = { count: 0 }
	private call() {
		this.calls.count++
		return 'called'
	}
	get__default(..._params: string[]) {
		return this.call()
	}
	post__default(..._params: string[]) {
		return this.call()
	}
	put__default(..._params: string[]) {
		return this.call()
	}
	patch__default(..._params: string[]) {
		return this.call()
	}
	delete__default(..._params: string[]) {
		return this.call()
	}
}

function word(random: Random, length = 1 + random(8)): string {
	return Array.from({ length }, () => WORD[random(WORD.length)]).join('')
}

function pick<T>(all: readonly T[], random: Random): T {
	const one = all[random(all.length)]
	if (one === undefined) throw new TypeError('there is nothing to pick from')
	return one
}

/** A valid request, of any shape that a client may send. */
function valid(random: Random): SignedRequest {
	const method = pick(METHODS, random)
	const hasBody = method !== 'GET' && method !== 'HEAD' && random(4) > 0
	const query = pick(
		['', `?${word(random)}=${word(random)}`, `?${word(random)}&b=%20${word(random)}`],
		random,
	)
	const headers: [string, string][] = [['User-Agent', word(random)]]
	if (hasBody && random(5) > 0)
		headers.push(['Content-Type', pick(['application/json', 'text/plain; a=b'], random)])
	if (method === 'POST' && random(4) === 0)
		headers.push(['X-HTTP-Method-Override', pick(['PUT', 'DELETE'], random)])
	if (random(4) === 0) headers.push(['If-Match', `"${word(random)}"`])
	if (random(4) === 0) headers.push(['Idempotency-Key', `"${word(random)}"`])
	const params: Record<string, string> = {
		created: String(NOW - random(300)),
		nonce: `"${word(random, 12)}"`,
	}
	if (random(3) === 0) params.alg = '"hmac-sha256"'
	if (random(3) === 0) params.expires = String(NOW + 1 + random(100))
	if (random(3) === 0) params.tag = `"${word(random)}"`
	const outline: Outline = {
		method,
		url: `/${word(random)}/${word(random)}${query}`,
		host: pick(['localhost', 'api.example.com', '127.0.0.1:8080'], random),
		headers,
		params,
		digest: pick(['sha256', 'sha512'], random),
		...(hasBody ? { body: word(random, 1 + random(200)) } : {}),
	}
	return signed(outline)
}

/** Changes one character at a random place. */
function changed(text: string, random: Random, alphabet = WORD): string {
	const at = random(text.length)
	const others = [...alphabet].filter((other) => other !== text[at])
	return text.slice(0, at) + pick(others, random) + text.slice(at + 1)
}

function edited(text: string, random: Random): string {
	const at = random(text.length + 1)
	const kind = random(3)
	if (kind === 0 && text !== '') return changed(text, random)
	if (kind === 1 && at < text.length) return text.slice(0, at) + text.slice(at + 1)
	return text.slice(0, at) + word(random, 1) + text.slice(at)
}

function header(name: string, change: (value: string, random: Random) => string | undefined): Mutate {
	return (request, random) => {
		const at = request.headers.findIndex(([other]) => other === name)
		const before = request.headers[at]?.[1]
		const after = before === undefined ? undefined : change(before, random)
		if (after === undefined || after === before) return undefined
		return { ...request, headers: request.headers.with(at, [name, after]) }
	}
}

function without(name: string): Mutate {
	return (request) => {
		const headers = request.headers.filter(([other]) => other !== name)
		return headers.length === request.headers.length ? undefined : { ...request, headers }
	}
}

function twice(name: string): Mutate {
	return (request, random) => {
		const line = request.headers.find(([other]) => other === name)
		if (line === undefined) return undefined
		const other = [name, pick([line[1], edited(line[1], random)], random)] as const
		return {
			...request,
			headers: pick(
				[
					[...request.headers, other],
					[other, ...request.headers],
				],
				random,
			),
		}
	}
}

function added(name: string, value: string): Mutate {
	return (request) =>
		request.headers.some(([other]) => other === name)
			? undefined
			: { ...request, headers: [...request.headers, [name, value]] }
}

const input = (change: (value: string, random: Random) => string | undefined): Mutate =>
	header('Signature-Input', change)

/** Changes the value of `;name=`. */
function param(name: string, change: (value: string, random: Random) => string): Mutate {
	return input((value, random) => {
		const found = new RegExp(`;${name}=("[^"]*"|\\d+)`).exec(value)
		if (found?.[1] === undefined) return undefined
		const start = found.index + name.length + 2
		return value.slice(0, start) + change(found[1], random) + value.slice(start + found[1].length)
	})
}

const PARAMS = ['created', 'keyid', 'nonce', 'alg', 'expires', 'tag']
const COVERED = ['Content-Type', 'Content-Digest', 'X-HTTP-Method-Override', 'If-Match', 'Idempotency-Key']

function listOf(value: string): string[] {
	return /\((.*?)\)/.exec(value)?.[1]?.split(' ') ?? []
}

function withList(value: string, list: readonly string[]): string {
	return value.replace(/\(.*?\)/, () => `(${list.join(' ')})`)
}

const target =
	(change: (path: string, query: string | undefined, random: Random) => string | undefined): Mutate =>
	(request, random) => {
		const mark = request.url.indexOf('?')
		const path = mark === -1 ? request.url : request.url.slice(0, mark)
		const url = change(path, mark === -1 ? undefined : request.url.slice(mark + 1), random)
		return url === undefined || url === request.url ? undefined : { ...request, url }
	}

const rest = (query: string | undefined): string => (query === undefined ? '' : `?${query}`)

/** Every kind of mutation, by what it changes. */
const MUTATIONS: Readonly<Record<string, Mutate>> = {
	method: (request, random) => ({
		...request,
		method: pick(
			METHODS.filter((other) => other !== request.method),
			random,
		),
	}),
	path: target((path, query, random) => `/${edited(path.slice(1), random)}${rest(query)}`),
	'path, encoded': target(
		(path, query) => `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}${rest(query)}`,
	),
	'path, closed': target((path, query) => `${path}/${rest(query)}`),
	query: target((path, query, random) =>
		query === undefined ? undefined : `${path}?${edited(query, random)}`,
	),
	'query, encoded': target((path, query) =>
		query === undefined ? undefined : `${path}?%${query.charCodeAt(0).toString(16)}${query.slice(1)}`,
	),
	'query, gone': target((path, query) => (query === undefined ? undefined : path)),
	'query, more': target(
		(path, query, random) => `${path}?${query === undefined ? '' : `${query}&`}${word(random)}`,
	),
	host: header('Host', (value, random) => changed(value, random)),
	'host, port': header('Host', (value) => (value.includes(':') ? value.replace(/:.*/, '') : `${value}:81`)),
	...Object.fromEntries(
		COVERED.flatMap((name): [string, Mutate][] => [
			[name, header(name, (value, random) => edited(value, random))],
			[`${name}, gone`, without(name)],
			[`${name}, twice`, twice(name)],
		]),
	),
	'override, added': (request) =>
		request.method === 'POST' ? added('X-HTTP-Method-Override', 'DELETE')(request, () => 0) : undefined,
	'If-Match, added': added('If-Match', '*'),
	'Idempotency-Key, added': added('Idempotency-Key', '"a"'),
	'Content-Type, added': (request, random) =>
		request.body === undefined ? undefined : added('Content-Type', 'text/html')(request, random),
	body: (request, random) =>
		request.body === undefined ? undefined : { ...request, body: changed(String(request.body), random) },
	'body, a bit': (request, random) => {
		if (request.body === undefined) return undefined
		const body = Buffer.from(request.body)
		const at = random(body.length)
		body[at] = (body[at] ?? 0) ^ (1 << random(8))
		return { ...request, body }
	},
	'body, shorter': (request, random) =>
		request.body === undefined
			? undefined
			: { ...request, body: request.body.slice(0, random(request.body.length)) },
	'body, longer': (request, random) => ({ ...request, body: `${request.body ?? ''}${word(random)}` }),
	'body and digest': (request, random) => {
		if (request.body === undefined) return undefined
		const body = edited(String(request.body), random)
		return header('Content-Digest', () => digestOf(body, 'sha256'))({ ...request, body }, random)
	},
	...Object.fromEntries(
		PARAMS.flatMap((name): [string, Mutate][] => [
			[
				name,
				param(name, (value, random) =>
					value.replace(/[^"]+/, (text) =>
						changed(text, random, name === 'created' || name === 'expires' ? '0123456789' : WORD),
					),
				),
			],
			[`${name}, gone`, input((value) => value.replace(new RegExp(`;${name}=("[^"]*"|\\d+)`), ''))],
			[`${name}, another type`, param(name, (value) => (value.startsWith('"') ? '5' : `"${value}"`))],
			// Longer by one, and so another.
			[`${name}, twice`, param(name, (value) => `${value};${name}=${value.replace(/\w/, '$&7')}`)],
		]),
	),
	'keyid, another with the same secret': param('keyid', () => '"k2"'),
	'parameter, added': input(
		(value, random) =>
			`${value};${pick(
				['x', 'expires=9999999999', 'tag="a"', 'alg="hmac-sha256"'].filter(
					(one) => !value.includes(`;${one.split('=')[0]}`),
				),
				random,
			)}`,
	),
	'parameters, in another order': input((value) => value.replace(/(;created=\d+)(;keyid="k1")/, '$2$1')),
	'component, gone': input((value, random) => {
		const list = listOf(value)
		return withList(value, list.toSpliced(random(list.length), 1))
	}),
	'component, added': input((value) =>
		withList(value, [...listOf(value), pick(['"host"', '"user-agent"', '"@scheme"'], () => 0)]),
	),
	'component, twice': input((value, random) =>
		withList(value, [...listOf(value), pick(listOf(value), random)]),
	),
	'components, in another order': input((value, random) => {
		const list = listOf(value)
		const at = random(list.length - 1)
		return withList(value, list.toSpliced(at, 2, list[at + 1] ?? '', list[at] ?? ''))
	}),
	'component, another': input((value) => value.replace('"@path"', '"@request-target"')),
	'component, with a parameter': input((value, random) => {
		const list = listOf(value)
		const at = random(list.length)
		return withList(
			value,
			list.with(at, `${list[at]};${pick(['sf', 'bs', 'key="a"', 'req', 'tr', 'x'], random)}`),
		)
	}),
	'label of one header': input((value) => value.replace('sig=', 'sjg=')),
	'Signature-Input, gone': without('Signature-Input'),
	'Signature, gone': without('Signature'),
	'Signature-Input, twice': (request, random) => {
		const line = request.headers.find(([name]) => name === 'Signature-Input')
		return line === undefined
			? undefined
			: {
					...request,
					headers: [
						...request.headers,
						['Signature-Input', line[1].replace(/nonce="/, `nonce="${word(random)}`)],
					],
				}
	},
	signature: header(
		'Signature',
		(value, random) => `sig=:${changed(value.slice(5, -2), random, ALPHABET)}=:`,
	),
	'signature, its last bits': header('Signature', (value, random) => {
		// The last character has two unused bits: four characters stand for the same 32 bytes.
		const last = ALPHABET.indexOf(value.at(-3) ?? '')
		return `${value.slice(0, -3)}${ALPHABET[(last & 60) | (1 + random(3))]}=:`
	}),
	'signature, shorter': header('Signature', (value, random) => {
		const bytes = Buffer.from(value.slice(5, -1), 'base64').subarray(0, random(32))
		return `sig=:${bytes.toString('base64')}:`
	}),
	'signature, longer': header('Signature', (value, random) => {
		const bytes = Buffer.concat([Buffer.from(value.slice(5, -1), 'base64'), Buffer.from([random(256)])])
		return `sig=:${bytes.toString('base64')}:`
	}),
	'signature, without padding': header('Signature', (value) => value.replace('=:', ':')),
	'signature, edited': header('Signature', (value, random) => {
		const at = 5 + random(value.length - 6)
		return value.slice(0, at) + value.slice(at + 1)
	}),
	'signature, twice': (request) => ({
		...request,
		headers: [...request.headers, ['Signature', 'sig=:AAAA:']],
	}),
}

function bytesOf({ method, url, headers, body }: SignedRequest): Buffer {
	const lines = headers.map(([name, value]) => `${name}: ${value}`)
	const bytes = Buffer.from(body ?? '')
	if (body !== undefined && bytes.length > 0) lines.push(`Content-Length: ${bytes.length}`)
	return Buffer.concat([
		Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
		bytes,
	])
}

/**
 * Sends so many mutations over sockets, and controls between them.
 *
 * @throws when a mutation is accepted, or a control isn't
 */
export async function checkMutations(mutations: number, controls: number, seed: number): Promise<void> {
	const random = randomOf(seed)
	const kinds = Object.entries(MUTATIONS)
	const statuses = new Map<number, number>()
	const tried = new Map<string, number>()
	const handler = new Everything()
	await listening({ '': handler }, { hosts: '*' }, async ({ port }) => {
		const client = new Reconnecting(port)
		try {
			// Few requests suit the rarest kinds: these are tried after the others.
			for (let done = 0; done < mutations || tried.size < kinds.length; ) {
				const original = valid(random)
				const untried = kinds.filter(([kind]) => !tried.has(kind))
				const [kind, mutate] = pick(done < mutations ? kinds : untried, random)
				const mutant = mutate(original, random)
				if (mutant === undefined) continue
				const { status } = await client.send(mutant)
				const story = `seed ${seed}, ${kind}: ${JSON.stringify([original, mutant])}`
				assert.ok(status >= 400 && handler.calls.count === 0, story)
				statuses.set(status, (statuses.get(status) ?? 0) + 1)
				tried.set(kind, (tried.get(kind) ?? 0) + 1)
				done++
				if (done % (mutations / controls) !== 0) continue
				const control = valid(random)
				assert.is((await client.send(control)).status, 200, `seed ${seed}: ${JSON.stringify(control)}`)
				assert.is(handler.calls.count, 1)
				handler.calls.count = 0
			}
		} finally {
			client.close()
		}
	})
	// Most are refused for their signature, and not for a malformed URL or header.
	assert.ok((statuses.get(401) ?? 0) > 0.9 * mutations, JSON.stringify([...statuses]))
}

/** One connection after the other: some mutations are worth one. */
class Reconnecting {
	readonly #port: number
	#client: RawClient

	constructor(port: number) {
		this.#port = port
		this.#client = new RawClient(port)
	}

	async send(request: SignedRequest): Promise<RawResponse> {
		if (this.#client.ended) this.#client = new RawClient(this.#port)
		await this.#client.send(bytesOf(request))
		const answer = await this.#client.response(request.method)
		if (answer.headers.connection !== 'close') return answer
		await this.#client.closed()
		this.#client.close()
		return answer
	}

	close(): void {
		this.#client.close()
	}
}
