/** The first step: a request-target is split into path segments and query. */
import { RestError } from '../base/error.ts'

/** A request-target, taken apart. */
export interface Target {
	/** Path segments, percent-decoded once each; none for `/`. */
	readonly segments: readonly string[]
	/** What stands behind the first `?`, still encoded. */
	readonly query: string
	/** Host and port of an absolute-form target, which replace the Host header (RFC 9112 §3.2.2). */
	readonly authority: string | undefined
}

const SLASH = 0x2f
const QUESTION = 0x3f
const PERCENT = 0x25
const NUMBER_SIGN = 0x23
const BACKSLASH = 0x5c

/**
 * `scheme://authority` of an absolute-form target, in the characters of uri-host and port (RFC 3986 §3.2.2):
 * it stands for Host, and may go into links. Userinfo is not taken (RFC 9110 §4.2.4).
 */
const ABSOLUTE = /^https?:\/\/([\w.~!$&'()*+,;=%:[\]-]+)(?=[/?]|$)/i

/**
 * Splits a request-target. Written by hand, as `new URL` takes the host from `//evil/p`, folds dot
 * segments and turns `\` into `/`: three ways for a path to be another one than the proxy in front saw.
 *
 * One trailing slash is ignored. `%2F` stays inside its segment.
 *
 * @throws RestError `bad_request` for a malformed escape, a control character or bytes that aren't
 *   ASCII; `not_found` for an empty segment, and for `#` and `\`, which no path has
 */
export function parseTarget(target: string): Target {
	if (target.charCodeAt(0) === SLASH) return split(target, 0, undefined)
	const absolute = ABSOLUTE.exec(target)
	if (absolute === null)
		throw new RestError('bad_request', 'The request-target must be a path that begins with /')
	const start = absolute[0].length
	const path =
		target.charCodeAt(start) === SLASH ? target : `${target.slice(0, start)}/${target.slice(start)}`
	return split(path, start, absolute[1])
}

/** One pass over the characters: finds the segments' ends and the query, and refuses what is no path. */
function split(target: string, start: number, authority: string | undefined): Target {
	const segments: string[] = []
	let from = start + 1
	let escaped = false
	let at = from
	for (; at < target.length; at++) {
		const code = target.charCodeAt(at)
		if (code > QUESTION && code < 0x7f && code !== BACKSLASH) continue
		if (code === QUESTION) break
		if (code === SLASH) {
			segments.push(segment(target, from, at, escaped))
			from = at + 1
			escaped = false
		} else if (code === PERCENT) escaped = true
		else if (code <= 0x20 || code >= 0x7f) throw notAscii()
		else if (code === NUMBER_SIGN || code === BACKSLASH) throw new RestError('not_found')
	}
	if (at > from) segments.push(segment(target, from, at, escaped))
	const query = at < target.length ? target.slice(at + 1) : ''
	return { segments, query, authority }
}

function segment(target: string, from: number, to: number, escaped: boolean): string {
	if (from === to) throw new RestError('not_found')
	const raw = target.slice(from, to)
	return escaped ? decodeSegment(raw) : raw
}

function decodeSegment(raw: string): string {
	const text = unescaped(raw)
	// A NUL or a line break in an id ends it early in what is written in C, or splits a header or log line.
	if (/[\x00-\x1f\x7f]/.test(text)) throw new RestError('bad_request', 'The path holds a control character')
	return text
}

function unescaped(raw: string): string {
	try {
		return decodeURIComponent(raw)
	} catch {
		throw new RestError(
			'bad_request',
			'The path holds a malformed percent escape: write % as %25, and other characters as escaped UTF-8',
		)
	}
}

function notAscii(): RestError {
	return new RestError('bad_request', 'The path holds a character that must be percent-encoded')
}

/** What most targets are before their query: nothing of it is cut off or escaped. */
const PLAIN = /^\/[!"$-~]*$/

/**
 * The path of a target as it was sent, for logs: a query, a fragment, and the userinfo of an absolute form may hold a
 * secret. What no target may hold is escaped: HTTP/2 lets bytes through that a terminal takes for commands.
 */
export function loggedPath(target: string): string {
	const query = target.indexOf('?')
	const sent = query === -1 ? target : target.slice(0, query)
	return PLAIN.test(sent) ? sent : cleaned(sent)
}

function cleaned(sent: string): string {
	const path = sent.replace(/#.*$/s, '').replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '')
	return path === '' ? '/' : path.replaceAll(/[^!-~]/g, encoded)
}

function encoded(character: string): string {
	return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
