/** The options of a client and of one call, their checks, and `Settings`, a client's options with defaults. */
import { isRecord } from './answer.ts'

/** The second argument of `fetch`. */
export interface FetchInit {
	readonly method: string
	readonly headers: Headers
	/** A stream with Node's `fetch`, for imports that aren't in memory. */
	readonly body?: string | Blob | ReadableStream<Uint8Array>
	readonly duplex?: 'half'
	readonly signal?: AbortSignal
	/** The client itself follows redirects, within the origin. */
	readonly redirect?: 'manual'
}

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

/** Headers, or a function that makes them for each attempt, for example with a token that expires. */
export type HeaderSource =
	| Readonly<Record<string, string>>
	| (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)

/** Options for all calls of a client. */
export interface SendOptions {
	/** Makes the requests. @default the platform's `fetch` */
	readonly fetch?: Fetch
	/** Headers of every request, or a function that makes them for each attempt. @default none */
	readonly headers?: HeaderSource
	/** Whether answers are in the envelope: the handler's `wrap`. @default true */
	readonly wrap?: boolean
	/**
	 * Signs each attempt: gets the whole request and returns one whose headers are sent. If it throws, the call rejects
	 * with that error. Outside a browser, the endpoint must then have an origin.
	 *
	 *     { sign: (request) => signRequest(request, key) }
	 *
	 * @default none
	 */
	readonly sign?: (request: Request) => Request | Promise<Request>
	/** How often a read is retried after a temporary failure: 0 to 10. @default 2 */
	readonly retries?: number
	/**
	 * Whether PUT, PATCH and DELETE are sent as POST with `X-HTTP-Method-Override`, for networks that block them.
	 *
	 * @default false
	 */
	readonly methodOverride?: boolean
}

/** Options of every call. */
export interface CallOptions {
	/** Aborts the call, also between attempts: it rejects with the signal's reason. */
	readonly signal?: AbortSignal | undefined
	/** Headers of this request, which override all others. */
	readonly headers?: Readonly<Record<string, string>> | undefined
}

/** {@link SendOptions} with their defaults. */
export type Settings = SendOptions & Required<Pick<SendOptions, 'wrap' | 'retries' | 'methodOverride'>>

/** The check of an option, and a description of valid values for messages. */
export type Check = readonly [isValid: (value: unknown) => boolean, expected: string]

/** The option `key` of a `CrudClient`. */
export const KEY: Check = [
	(value) => [value].flat().every((name) => typeof name === 'string' && name !== ''),
	"a field's name, or a list of them",
]

export const HEADERS: string = "an object of texts, like { 'X-A': 'a' }"
const MAX_RETRIES = 10
const FUNCTION: Check = [(value) => typeof value === 'function', 'a function']
const BOOLEAN: Check = [(value) => typeof value === 'boolean', 'true or false']
const CHECKS: Readonly<Record<keyof SendOptions, Check>> = {
	fetch: FUNCTION,
	headers: [
		(value) => typeof value === 'function' || isHeaders(value),
		`${HEADERS}, or a function that returns one`,
	],
	wrap: BOOLEAN,
	sign: FUNCTION,
	retries: [
		(value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_RETRIES,
		`a whole number from 0 to ${MAX_RETRIES}`,
	],
	methodOverride: BOOLEAN,
}

const DEFAULTS: Settings = { wrap: true, retries: 2, methodOverride: false }

/**
 * The settings of a client.
 *
 * @param owner the owner's name for messages: `a CrudClient`
 * @param own checks of the owner's further options
 * @throws TypeError for an unknown option and for a wrong value
 */
export function settingsOf(
	owner: string,
	options: SendOptions,
	own: Readonly<Record<string, Check>> = {},
): Settings {
	if (!isRecord(options)) throw new TypeError(`${owner}'s options must be an object`)
	const checks: Readonly<Record<string, Check>> = { ...CHECKS, ...own }
	checkNames(owner, options, Object.keys(checks))
	const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
	for (const [name, value] of Object.entries(given)) {
		const [isValid, expected] = checks[name] ?? []
		if (isValid?.(value) === false) throw new TypeError(`${owner}'s ${name} must be ${expected}`)
	}
	return { ...DEFAULTS, ...given }
}

/** @throws TypeError for an unknown option: a misspelt one would be ignored silently */
export function checkNames(owner: string, options: object, names: readonly string[]): void {
	const unknown = Object.keys(options).find((name) => !names.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${owner} has no option ${unknown}: there are ${names.join(', ')}`)
}

/** Whether a value is an object of texts. A `Headers` isn't: it has no own properties, so nothing of it would be sent. */
export function isHeaders(value: unknown): value is Readonly<Record<string, string>> {
	if (!isRecord(value) || Symbol.iterator in value) return false
	return Object.values(value).every((text) => typeof text === 'string')
}

/** @throws TypeError for an invalid key */
export function checkedKey(key: string | undefined): string | undefined {
	if (key === undefined || (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key))) return key
	throw new TypeError('an idempotencyKey must be 1 to 255 characters of printable ASCII')
}
