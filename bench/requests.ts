/** The bytes of requests, which are created before measuring. */
import type { Route } from './app.ts'
import { type Random, word } from './random.ts'

const COMMON = 'Host: localhost\r\nAccept: application/json\r\nUser-Agent: verbena-bench\r\n'

/** A GET request. */
export function get(path: string): Buffer {
	return Buffer.from(`GET ${path} HTTP/1.1\r\n${COMMON}\r\n`)
}

/** A POST request with a JSON body. */
export function post(path: string, body: string): Buffer {
	return write('POST', path, body)
}

/** A PATCH request with a JSON body. */
export function patch(path: string, body: string): Buffer {
	return write('PATCH', path, body)
}

function write(method: string, path: string, body: string): Buffer {
	const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
	return Buffer.from(`${method} ${path} HTTP/1.1\r\n${COMMON}${type}\r\n${body}`)
}

/** An id of six digits, so that responses to different ids have the same length. */
export function id(random: Random): number {
	return 100_000 + random(900_000)
}

/** A path that a custom route matches, with six random digits for its placeholder. */
export function pathOf(route: Route, random: Random): string {
	return `/api/${route.segments.map((segment) => segment ?? id(random)).join('/')}`
}

/**
 * The JSON of an article, padded to `bytes`. From 1,000 bytes on it also has 100 small objects.
 *
 *     {"title":"…","email":"…@example.org","age":36,"tags":["rest","node","http"]}
 */
export function article(random: Random, bytes: number): string {
	const small = {
		title: word(random, 20),
		email: `${word(random, 8)}@example.org`,
		age: 20 + random(60),
		tags: [word(random, 4), word(random, 6), word(random, 5)],
	}
	if (bytes < 1_000) {
		const missing = bytes - JSON.stringify(small).length
		return JSON.stringify({ ...small, title: small.title + word(random, missing) })
	}
	const items = Array.from({ length: 100 }, () => ({ sku: `sku-${id(random)}`, count: 10 + random(90) }))
	const large = { ...small, text: '', items }
	const missing = bytes - JSON.stringify(large).length
	return JSON.stringify({ ...large, text: prose(random, missing) })
}

function prose(random: Random, length: number): string {
	let text = ''
	while (text.length < length) text += `${word(random, 2 + random(8))} `
	return `${text.slice(0, length - 1)}.`
}
