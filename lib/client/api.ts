/** `client()`: an API's methods as calls, by their names; what is typed of them is in `route-types.ts`. */
import { endpointUrl } from './address.ts'
import type { Answer } from './answer.ts'
import { pathOf, searchOf } from './api-path.ts'
import { apiPromise } from './api-promise.ts'
import { checkedKey } from './call-options.ts'
import type { Api, BodyOptions, NoCall, Verb } from './route-types.ts'
import { send } from './send.ts'
import { checkNames, type SendOptions, type Settings, settingsOf } from './settings.ts'

const VERBS: readonly Verb[] = ['get', 'post', 'put', 'patch', 'delete', 'query']
const OPTIONS: readonly string[] = ['body', 'query', 'headers', 'signal', 'idempotencyKey']
/** What isn't `Object.prototype`'s of these names: `await api.get` must not ask for `/then`. */
const NO_CALLS: readonly string[] = ['then', 'catch', 'finally', 'toJSON', 'inspect'] satisfies NoCall[]

/**
 * The calls of a handler, typed by its class, of which nothing but the type is needed:
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
 * answers the method's value as JSON has it, or, of bytes and streams, a `Blob`; `response()` of what it answers has
 * status, headers and `meta` too:
 *
 *     const { data, meta } = await api.get.articles().response()
 *
 * It rejects with an `ApiError` for everything but a success, with the signal's reason when it is aborted, and with a
 * TypeError for what can't be sent, or a RangeError for an invalid date.
 *
 * @throws TypeError where the endpoint can't make a URL, and for options that there aren't
 */
export function client<H extends object>(endpoint: string, options: SendOptions = {}): Api<H> {
	const base = endpointUrl("client()'s", endpoint)
	const settings = settingsOf('client()', options)
	const api = Object.fromEntries(VERBS.map((verb) => [verb, callsOf(verb, base, settings)]))
	// Any call can be made: the class, which isn't here, says which of them the type has.
	return Object.freeze(api) as unknown as Api<H>
}

function callsOf(verb: Verb, base: string, settings: Settings): object {
	return new Proxy(Object.freeze({}), {
		get(target, name) {
			if (typeof name === 'symbol' || name in target || NO_CALLS.includes(name)) return undefined
			return (...args: unknown[]) => apiPromise(ask(verb, name, args, { base, settings }))
		},
	})
}

async function ask(
	verb: Verb,
	name: string,
	args: readonly unknown[],
	{ base, settings }: { readonly base: string; readonly settings: Settings },
): Promise<Answer> {
	const call = `api.${verb}${/^\w+$/.test(name) ? `.${name}` : `['${name}']`}`
	const last = args.at(-1)
	const { query = {}, idempotencyKey, ...options } = isOptions(last) ? checked(call, verb, last) : {}
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

/** Params are never objects, so that one behind them can only be the options. */
function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
	if (typeof value !== 'object' || value === null) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** @throws TypeError for what would be left out in silence */
function checked(call: string, verb: Verb, options: Readonly<Record<string, unknown>>): BodyOptions {
	checkNames(call, options, OPTIONS)
	const { body, query } = options
	if (verb === 'get' && body !== undefined)
		throw new TypeError(`${call}: a GET has no body, write query instead`)
	if (query !== undefined && !isOptions(query)) throw new TypeError(`${call}: query must be an object`)
	return options // what is left of its members is checked where it is used
}

/** Of a read, params that are left out by `undefined` are left out; a write must not go to another path. */
function paramsOf(verb: Verb, params: readonly unknown[]): readonly unknown[] {
	if (verb !== 'get' && verb !== 'query') return params
	return params.slice(0, params.findLastIndex((param) => param !== undefined) + 1)
}

/**
 * A success that is no JSON, and not nothing. A page or a plain text is rather a proxy's, unless it says `nosniff` as
 * our server does. Across origins that can't be read, but neither can a proxy's answer, which has no CORS headers.
 */
function isBytes({ ok, status, headers, type }: Response): boolean {
	const content = headers.get('Content-Type') ?? ''
	if (!ok || /^20[45]$/.test(`${status}`) || NO_BYTES.test(content)) return false
	if (!/^text\/(?:html|plain)\b/i.test(content)) return true
	return type === 'cors' || headers.get('X-Content-Type-Options') === 'nosniff'
}

/** JSON, and what doesn't say what it is. */
const NO_BYTES = /^(?:$|(?:application|text)\/(?:[\w.-]+\+)?json\s*(?:;|$))/i
