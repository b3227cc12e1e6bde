/** `signRequest`: signs a request of `fetch` for a server's `HmacAuthenticator`, in browsers and in Node. */

import { decodeBase64, encodeBase64 } from '../wire/base64.ts'
import {
	MAX_NAME_LENGTH,
	RequestComponents,
	SIGNED_IF_SENT,
	signatureBase,
	TARGET,
} from '../wire/signature.ts'
import type { BareItem, InnerList } from '../wire/structured-fields.ts'
import { innerListText } from '../wire/structured-text.ts'

/** A key of WebCrypto. */
type WebKey = Parameters<typeof crypto.subtle.sign>[1]

/** An HMAC key. */
export interface SigningKey {
	/** The key's name on the server: 1 to 128 characters of printable ASCII. */
	readonly id: string
	/**
	 * At least 32 bytes, raw or as base64 with padding; or a WebCrypto key for HMAC with SHA-256, which a browser can
	 * store without revealing it.
	 */
	readonly secret: string | Uint8Array | WebKey
}

/** Additions to a signature: covered headers, expiry and tag. */
export interface SignOptions {
	/** Names of further headers to sign. @default none */
	readonly covers?: readonly string[]
	/**
	 * How long the signature is valid, in whole seconds from 1 to 86,400; the server's limit applies, too.
	 * @default the server's limit
	 */
	readonly expiresSeconds?: number
	/** The application's name, for servers that distinguish applications. @default none */
	readonly tag?: string
	/** The time in milliseconds since 1970. @default Date.now */
	readonly clock?: () => number
}

const OPTIONS = ['covers', 'expiresSeconds', 'tag', 'clock']
const MAX_EXPIRES_SECONDS = 86_400
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/**
 * Signs a copy of the request: adds `Signature` and `Signature-Input` (RFC 9421, `hmac-sha256`) and, if there is a
 * body, `Content-Digest` (RFC 9530). The whole body is read; the given request stays usable.
 *
 *     const request = new Request('https://api.example.com/blog/article', { method: 'POST', body, headers })
 *     await fetch(await signRequest(request, { id: 'k1', secret }))
 *
 * All calls of a client:
 *
 *     new CrudClient('article', '/blog', { sign: (request) => signRequest(request, key) })
 *
 * A signature is valid for one request: a repeated or redirected one needs a new signature.
 *
 * @throws TypeError for a key that can't sign, for an unknown option, for a request whose body has been read, and, in a
 *   browser, on pages without https; RangeError for an absent header in `covers`, and for `expiresSeconds` out of
 *   bounds
 */
export async function signRequest(
	request: Request,
	key: SigningKey,
	options: SignOptions = {},
): Promise<Request> {
	checkOptions(options)
	const webKey = await webKeyOf(key)
	const bytes = await bytesOf(request)
	const body = bytes?.length === 0 ? undefined : bytes
	const headers = new Headers(request.headers)
	if (body !== undefined) {
		const digest = await crypto.subtle.digest('SHA-256', body)
		headers.set('Content-Digest', `sha-256=:${encodeBase64(new Uint8Array(digest))}:`)
	}
	const covered = coveredList(coveredNames(headers, body !== undefined, options), key.id, options)
	const base = signatureBase(componentsOf(request, headers), covered)
	const signature = await crypto.subtle.sign('HMAC', webKey, new TextEncoder().encode(base))
	headers.set('Signature-Input', `sig=${innerListText(covered)}`)
	headers.set('Signature', `sig=:${encodeBase64(new Uint8Array(signature))}:`)
	// The copy gets the bytes, even if there are none, so that the given request keeps its body.
	return new Request(request, bytes === undefined ? { headers } : { headers, body: bytes })
}

function coveredNames(headers: Headers, hasBody: boolean, { covers = [] }: SignOptions): ReadonlySet<string> {
	const names = hasBody ? ['content-type', 'content-digest', ...SIGNED_IF_SENT] : SIGNED_IF_SENT
	return new Set([
		'@method',
		...TARGET,
		...names.filter((name) => headers.has(name)),
		...covers.map((name) => name.toLowerCase()),
	])
}

/** The covered components with the signature's parameters. */
function coveredList(
	names: ReadonlySet<string>,
	keyid: string,
	{ expiresSeconds, tag, clock = Date.now }: SignOptions,
): InnerList {
	const created = Math.floor(clock() / 1_000)
	const parameters = new Map<string, BareItem>([
		['created', { type: 'integer', value: created }],
		['keyid', text(keyid)],
		['nonce', text(encodeBase64(crypto.getRandomValues(new Uint8Array(16))))],
		['alg', text('hmac-sha256')],
	])
	if (expiresSeconds !== undefined)
		parameters.set('expires', { type: 'integer', value: created + expiresSeconds })
	if (tag !== undefined) parameters.set('tag', text(tag))
	const items = [...names].map((name) => ({ value: text(name), parameters: new Map<string, BareItem>() }))
	return { items, parameters }
}

function text(value: string): BareItem {
	return { type: 'string', value }
}

function componentsOf({ method, url }: Request, headers: Headers): RequestComponents {
	// URL parsing lowercases the host and removes the default port, as RFC 9421 §2.2.3 requires.
	const { protocol, host, pathname, search } = new URL(url)
	return new RequestComponents({
		method,
		scheme: protocol === 'https:' ? 'https' : 'http',
		authority: host,
		target: pathname + search,
		fieldLines: (name) => {
			const value = headers.get(name)
			return value === null ? [] : [value]
		},
	})
}

/** The body's bytes; `undefined` if there is no body. */
async function bytesOf(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
	// Browsers that don't support `Request.body` have undefined, whether or not there is a body.
	if (request.method === 'GET' || request.method === 'HEAD' || request.body === null) return undefined
	return new Uint8Array(await request.clone().arrayBuffer())
}

function checkOptions(options: SignOptions): void {
	if (typeof options !== 'object' || options === null)
		throw new TypeError("signRequest's options must be an object")
	const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`signRequest has no option ${unknown}: there are ${OPTIONS.join(', ')}`)
	const { expiresSeconds: time } = options
	if (time === undefined || (Number.isInteger(time) && time >= 1 && time <= MAX_EXPIRES_SECONDS)) return
	throw new RangeError(
		`expiresSeconds must be a whole number from 1 to ${MAX_EXPIRES_SECONDS}, got ${String(time)}`,
	)
}

async function webKeyOf(key: SigningKey): Promise<WebKey> {
	if (typeof key !== 'object' || key === null) throw new TypeError('signRequest needs a key: { id, secret }')
	const { id, secret } = key
	if (typeof id !== 'string' || !/^[\x20-\x7e]+$/.test(id) || id.length > MAX_NAME_LENGTH)
		throw new TypeError(`signRequest needs a key's id: 1 to ${MAX_NAME_LENGTH} characters of printable ASCII`)
	if (secret === undefined || secret === null) throw new TypeError("signRequest needs the key's secret")
	if (globalThis.crypto?.subtle === undefined)
		throw new TypeError('signRequest needs crypto.subtle, which browsers have only on https and localhost')
	const bytes = typeof secret === 'string' ? decodeBase64(secret) : secret
	if (bytes === undefined) throw new TypeError("signRequest: the key's secret must be base64 with padding")
	if (!(bytes instanceof Uint8Array)) return checkedWebKey(bytes)
	if (bytes.length < 32)
		throw new TypeError(`signRequest: the key's secret must have at least 32 bytes, got ${bytes.length}`)
	return crypto.subtle.importKey('raw', new Uint8Array(bytes), HMAC, false, ['sign'])
}

/** @throws TypeError for a key of another algorithm, whose signatures no server would accept */
function checkedWebKey(key: WebKey): WebKey {
	const { name, hash } = (key?.algorithm ?? {}) as { name?: unknown; hash?: { name?: unknown } }
	if (name === HMAC.name && hash?.name === HMAC.hash && key.usages.includes('sign')) return key
	throw new TypeError(
		"signRequest: the key's secret must be bytes, base64, or a CryptoKey for HMAC with SHA-256",
	)
}
