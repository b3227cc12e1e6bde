/** Headers of answers where the explorer is on: of JSON, which differs by Accept then, and of pages. */
import { placeOf, type Reply, vary } from '../reply/headers.ts'
import { isJsonType } from '../wire/json.ts'

/**
 * What says something of the JSON alone. A page with its ETag would be taken for it, and what may be kept of it says
 * nothing of the page, which has the caller's own in it.
 */
const OF_THE_JSON: ReadonlySet<string> = new Set([
	...[
		'content-type',
		'content-length',
		'content-language',
		'content-location',
		'content-disposition',
		'content-digest',
		'repr-digest',
	],
	...['etag', 'last-modified', 'cache-control', 'expires', 'age', 'accept-ranges'],
	...['content-security-policy', 'x-content-type-options', 'referrer-policy', 'x-frame-options'],
	...['cross-origin-opener-policy', 'cross-origin-resource-policy'],
])

/** The value of the header, of several the first; its name in lower case. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
	for (let at = 0; at < headers.length; at += 2) {
		if (headers[at]?.toLowerCase() === name) return headers[at + 1]
	}
	return undefined
}

export function isJson({ headers }: Reply): boolean {
	return isJsonType(headerOf(headers, 'content-type') ?? '')
}

/** JSON, and a 304 in its place, are told apart from the page by `Vary: Accept` (RFC 9110 §12.5.5). */
export function variedByAccept(reply: Reply): Reply {
	if (!isJson(reply) && reply.status !== 304) return reply
	const headers = [...reply.headers]
	vary(headers, 'Accept')
	return { ...reply, headers }
}

/**
 * The headers of a page: what the answer's say to a browser (cookies, challenges, limits) stays. The policy lets the
 * page's own script and style through, and nothing else, whatever is written in what it shows; no script can make
 * markup of text at all (`trusted-types`).
 */
export function pageHeaders(headers: readonly string[], nonce: string, length: number | undefined): string[] {
	const lines = [
		...['Content-Type', 'text/html; charset=utf-8'],
		...(length === undefined ? [] : ['Content-Length', String(length)]),
		...['Content-Security-Policy', policyFor(nonce), 'Cache-Control', cacheControlFor(headers)],
		...['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'],
		...['Cross-Origin-Opener-Policy', 'same-origin', 'Cross-Origin-Resource-Policy', 'same-origin'],
		...without(headers, OF_THE_JSON),
	]
	vary(lines, 'Accept')
	return lines
}

/** A secret that may not be compressed beside what somebody else has chosen (BREACH) is in the page as well. */
function cacheControlFor(headers: readonly string[]): string {
	const directives: string[] = []
	for (let at = placeOf(headers, 'cache-control'); at !== -1; at = placeOf(headers, 'cache-control', at + 2))
		directives.push(...(headers[at + 1] ?? '').split(',').map((one) => one.trim().toLowerCase()))
	return directives.includes('no-transform') ? 'no-store, no-transform' : 'no-store'
}

function policyFor(nonce: string): string {
	return [
		"default-src 'none'",
		`script-src 'nonce-${nonce}'`,
		`style-src 'nonce-${nonce}'`,
		// The icon, which is none: without it a browser asks for one.
		'img-src data:',
		"connect-src 'self'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"base-uri 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join('; ')
}

function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
	const kept: string[] = []
	for (let at = 0; at < headers.length; at += 2) {
		const name = headers[at] ?? ''
		if (!names.has(name.toLowerCase())) kept.push(name, headers[at + 1] ?? '')
	}
	return kept
}
