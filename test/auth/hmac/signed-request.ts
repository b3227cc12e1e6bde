/** An independent signer for tests: RFC 9421 written out, so that the tests share no code with what they test. */
import { createHash, createHmac } from 'node:crypto'

export const SECRET = Buffer.alloc(32, 7)
/** The time of signing, and the verifier's clock: seconds since 1970. */
export const NOW = 1_795_305_600

type Header = readonly [name: string, value: string]

/** A request to be signed; missing parts are those of a well-behaved client. */
export interface Outline {
	readonly method?: string
	/** Path and query. */
	readonly url?: string
	readonly host?: string
	readonly scheme?: 'http' | 'https'
	readonly headers?: readonly Header[]
	readonly body?: string | Buffer
	/** Component identifiers as written: `"@method"`. */
	readonly covered?: readonly string[]
	/** Replaces or adds parameters; `undefined` omits one. */
	readonly params?: Readonly<Record<string, string | undefined>>
	readonly label?: string
	readonly secret?: Buffer
	/** Algorithm of the Content-Digest. */
	readonly digest?: 'sha256' | 'sha512' | 'md5'
}

export interface SignedRequest {
	readonly method: string
	readonly url: string
	readonly headers: readonly Header[]
	readonly body: string | Buffer | undefined
}

const state = { nonces: 0 }

/** Signs exactly as RFC 9421 §2.5 says. */
export function signed(outline: Outline = {}): SignedRequest {
	const { method = 'GET', url = '/a/x', host = 'localhost', scheme = 'http', body } = outline
	const { label = 'sig', secret = SECRET, digest = 'sha256' } = outline
	const headers: Header[] = [['Host', host], ...(outline.headers ?? [])]
	if (body !== undefined) headers.push(['Content-Digest', digestOf(body, digest)])
	const covered = outline.covered ?? usual(headers, body !== undefined)
	const params: Record<string, string | undefined> = {
		created: String(NOW),
		keyid: '"k1"',
		nonce: `"n${state.nonces++}"`,
		...outline.params,
	}
	let input = `(${covered.join(' ')})`
	for (const [name, value] of Object.entries(params)) if (value !== undefined) input += `;${name}=${value}`
	const at = { method, url, host, scheme, headers }
	const lines = covered.map((id) => `${id}: ${valueIn(at, id.slice(1, id.lastIndexOf('"')))}\n`)
	const base = `${lines.join('')}"@signature-params": ${input}`
	const signature = createHmac('sha256', secret).update(base).digest('base64')
	headers.push(['Signature-Input', `${label}=${input}`], ['Signature', `${label}=:${signature}:`])
	return { method, url, headers, body }
}

export function digestOf(body: string | Buffer, digest: 'sha256' | 'sha512' | 'md5'): string {
	const name = { sha256: 'sha-256', sha512: 'sha-512', md5: 'md5' }[digest]
	return `${name}=:${createHash(digest).update(body).digest('base64')}:`
}

/** For `inject`: lines of one name in a list. */
export function injected({ method, url, headers, body }: SignedRequest): {
	method: string
	url: string
	headers: Record<string, string[]>
	body: string | Buffer | undefined
} {
	const lines: Record<string, string[]> = {}
	for (const [name, value] of headers) {
		lines[name] ??= []
		lines[name].push(value)
	}
	return { method, url, headers: lines, body }
}

function usual(headers: readonly Header[], hasBody: boolean): string[] {
	const covered = ['@method', '@authority', '@path', '@query']
	const names = ['x-http-method-override', 'idempotency-key', 'if-match']
	if (hasBody) names.unshift('content-type', 'content-digest')
	for (const name of names) if (headers.some(([other]) => other.toLowerCase() === name)) covered.push(name)
	return covered.map((name) => `"${name}"`)
}

function valueIn(
	at: { method: string; url: string; host: string; scheme: string; headers: readonly Header[] },
	name: string,
): string {
	const [path = '', ...query] = at.url.split('?')
	const derived: Record<string, string> = {
		'@method': at.method,
		'@authority': at.host,
		'@path': path,
		'@query': `?${query.join('?')}`,
		'@target-uri': `${at.scheme}://${at.host}${at.url}`,
		'@request-target': at.url,
	}
	const lines = at.headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
	return derived[name] ?? lines.join(', ')
}
