/** `client()`: calls the methods of an API by their names. The types of these calls are in `route-types.ts`. */
import { isJsonType } from '../wire/json-type.ts'
import { endpointUrl, idSegment } from './address.ts'
import { type Answer, metaOf } from './answer.ts'
import type { Api, ApiPromise, BodyOptions, NoCall, QueryFields, Verb } from './route-types.ts'
import { jsonScalar, send } from './send.ts'
import { checkedKey, checkNames, type SendOptions, type Settings, settingsOf } from './settings.ts'

const VERBS: readonly Verb[] = ['get', 'post', 'put', 'patch', 'delete', 'query']
const OPTIONS: readonly string[] = ['body', 'query', 'headers', 'signal', 'idempotencyKey']
/** Names, besides those of `Object.prototype`, that aren't calls: `await api.get` must not request `/then`. */
const NO_CALLS: readonly string[] = ['then', 'catch', 'finally', 'toJSON', 'inspect'] satisfies NoCall[]

/**
 * Makes the calls of a handler, typed by the handler's class. Only the class's type is imported:
 *
 * ```ts
 * import type { Blog } from './blog.ts'
 * const api = client<Blog>('/blog/api')
 * await api.get.article('5')                                // GET /blog/api/article/5
 * await api.post.article({ body: { title: 'Sage' } })       // POST /blog/api/article {"title":"Sage"}
 * await api.get['custom/%s/page/%d']('lawns', 3)            // GET /blog/api/custom/lawns/page/3
 * ```
 *
 * A call takes the method's parameters, then options: `body`, `query`, `headers`, `signal`, `idempotencyKey`. It
 * resolves to the method's value after JSON, or to a `Blob` for bytes and streams. The promise's `response()` also has
 * the status, headers and `meta`:
 *
 *     const { data, meta } = await api.get.articles().response()
 *
 * A call rejects with an `ApiError` for everything but a success, with the signal's reason when aborted, with a
 * TypeError for values that can't be sent, and with a RangeError for an invalid date.
 *
 * @throws TypeError for an endpoint that isn't a URL or a path, and for unknown options
 */
export function client<H extends object>(endpoint: string, options: SendOptions = {}): Api<H> {
	const base = endpointUrl("client()'s", endpoint)
	const settings = settingsOf('client()', options)
	const api = Object.fromEntries(VERBS.map((verb) => [verb, callsOf(verb, base, settings)]))
	// At run time any name is a call; the type has only the calls of the class.
	return Object.freeze(api) as unknown as Api<H>
}

function callsOf(verb: Verb, base: string, settings: Settings): object {
	return new Proxy(Object.freeze({}), {
		get(target, name) {
			if (typeof name === 'symbol' || name in target || NO_CALLS.includes(name)) return undefined
			return (...args: unknown[]) => apiPromise(request(verb, name, args, { base, settings }))
		},
	})
}

async function request(
	verb: Verb,
	name: string,
	args: readonly unknown[],
	{ base, settings }: { readonly base: string; readonly settings: Settings },
): Promise<Answer> {
	const call = `api.${verb}${/^\w+$/.test(name) ? `.${name}` : `['${name}']`}`
	const last = args.at(-1)
	const { query = {}, idempotencyKey, ...options } = isOptions(last) ? checkedOptions(call, verb, last) : {}
	const params = paramsOf(verb, isOptions(last) ? args.slice(0, -1) : args)
	const url = `${base}${pathOf(call, name, params)}` || '/'
	let bytes: Blob | undefined
	const read = async (response: Response): Promise<string | undefined> => {
		bytes = isBytes(response) ? await response.blob() : undefined
		return bytes ? undefined : response.text()
	}
	const answer = await send(
		{
			...options,
			method: verb.toUpperCase(),
			url: url + searchOf(call, query),
			idempotencyKey: checkedKey(idempotencyKey),
			read,
		},
		settings,
	)
	return bytes === undefined ? answer : { ...answer, data: bytes }
}

/** Params are never objects: if the last argument is one, it is the options. */
function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
	if (typeof value !== 'object' || value === null) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** @throws TypeError for options that would be ignored silently */
function checkedOptions(call: string, verb: Verb, options: Readonly<Record<string, unknown>>): BodyOptions {
	checkNames(call, options, OPTIONS)
	const { body, query } = options
	if (verb === 'get' && body !== undefined)
		throw new TypeError(`${call}: a GET has no body, write query instead`)
	if (query !== undefined && !isOptions(query)) throw new TypeError(`${call}: query must be an object`)
	return options // the other members are checked where they are used
}

/**
 * In a read, trailing params that are undefined are omitted. In a write, they stay and are refused: without them, the
 * path would name another resource.
 */
function paramsOf(verb: Verb, params: readonly unknown[]): readonly unknown[] {
	if (verb !== 'get' && verb !== 'query') return params
	return params.slice(0, params.findLastIndex((param) => param !== undefined) + 1)
}

/**
 * Whether a success has a body that isn't JSON. HTML and plain text count as a proxy's page, unless they have
 * `nosniff`, which our server sets. Across origins that header isn't readable, but a readable text must be our server's,
 * because a proxy's page has no CORS headers.
 */
function isBytes({ ok, status, headers, type }: Response): boolean {
	const content = headers.get('Content-Type') ?? ''
	if (!ok || /^20[45]$/.test(`${status}`) || content === '' || isJsonType(content)) return false
	if (!/^text\/(?:html|plain)\b/i.test(content)) return true
	return type === 'cors' || headers.get('X-Content-Type-Options') === 'nosniff'
}

function apiPromise(work: Promise<Answer>): ApiPromise<unknown> {
	const data = work.then((answer) => answer.data)
	return Object.assign(data, {
		async response() {
			// If the call fails, this promise rejects. `data` may not be awaited, and must not be an unhandled rejection.
			data.catch(() => {})
			const answer = await work
			const { status, headers } = answer.response
			return { data: answer.data, meta: metaOf(answer.meta, headers), status, headers }
		},
	})
}

/**
 * The path after the endpoint. Each param stays within one segment.
 *
 *     pathOf('article', ['5'])                       // '/article/5'
 *     pathOf('_default', ['a/b'])                    // '/a%2Fb'
 *     pathOf('custom/%s/page-%d', ['lawns', 3])      // '/custom/lawns/page-3'
 *
 * @param call the call's name for messages: `api.get.article`
 * @throws TypeError for params that can't be in a path, and if there are more or fewer params than placeholders
 */
export function pathOf(call: string, name: string, params: readonly unknown[]): string {
	const missing = params.indexOf(undefined)
	// If it were omitted, the path would name another resource: DELETE /article instead of DELETE /article/5.
	if (missing !== -1) throw new TypeError(`${call}: argument ${missing + 1} is undefined`)
	return segmentsOf(call, name, params)
		.map((segment) => `/${idSegment(segment, true, `${call}: a path segment`)}`)
		.join('')
}

function segmentsOf(call: string, name: string, params: readonly unknown[]): readonly unknown[] {
	if (/[/%]/.test(name)) return filledPattern(call, name, params)
	return name === '_default' ? params : [name, ...params]
}

/** The segments of a pattern, with params that the server accepts for its placeholders. @throws TypeError for others */
function filledPattern(call: string, pattern: string, params: readonly unknown[]): string[] {
	let at = 0
	const fill = (placeholder: string): string => {
		if (placeholder === '%%') return '%'
		const [fits, what] = PLACEHOLDERS[placeholder === '%d' ? placeholder : '%s']
		const param = params[at++]
		if (fits(param)) return String(param)
		throw new TypeError(`${call}: argument ${at} must be ${what} for ${placeholder}`)
	}
	const segments = pattern
		.replace(/^\//, '')
		.split('/')
		.map((segment) => segment.replace(/%[sd%]/g, fill))
	if (at === params.length) return segments
	throw new TypeError(`${call}: expected ${at} params, got ${params.length}`)
}

const PLACEHOLDERS = {
	'%d': [
		(param: unknown) => /^-?\d+$/.test(String(param)) && Number.isSafeInteger(Number(param)),
		'a whole number within ±2^53',
	],
	// `idSegment` checks the whole segment.
	'%s': [
		(param: unknown) =>
			param !== '' && (/^(?:string|bigint)$/.test(typeof param) || Number.isSafeInteger(param)),
		'a text',
	],
} as const

/**
 * Encodes query parameters: `?q=tea&tag=a&tag=b`.
 *
 * @throws TypeError for values other than texts, numbers, bigints, booleans and dates
 */
function searchOf(call: string, query: QueryFields): string {
	const parameters = new URLSearchParams()
	for (const [name, values] of Object.entries(query))
		for (const value of [values].flat()) {
			if (value === undefined) continue
			const sent = jsonScalar(value)
			// URLs are UTF-8, which can't encode lone surrogates.
			if (!/^(?:string|number|boolean)$/.test(typeof sent) || /\p{Surrogate}/u.test(String(sent)))
				throw new TypeError(
					`${call}: query.${name} must be a text, number, boolean, date or an array of these`,
				)
			parameters.append(name, String(sent))
		}
	return parameters.size === 0 ? '' : `?${parameters}`
}
