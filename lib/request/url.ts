/**
 * Step 1 of `pipeline/answer.ts`: splits a request-target into path segments and query. Also makes its path for log
 * lines.
 */
import { RestError } from '../base/error.ts'

export interface Target {
	/** Path segments, percent-decoded once each; none for `/`. */
	readonly segments: readonly string[]
	/** Everything after the first `?`, still encoded. */
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
 * `scheme://authority` of an absolute-form target: the authority replaces Host, so it must have the form of one
 * (RFC 3986 §3.2.2). Userinfo is refused (RFC 9110 §4.2.4).
 */
const ABSOLUTE = /^https?:\/\/((?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?)(?=[/?]|$)/i

/**
 * Splits a request-target. Doesn't use `new URL`, which takes the host from `//evil/p`, resolves dot segments and turns
 * `\` into `/`: the path served could differ from the path that a proxy in front has checked.
 *
 * One trailing slash is ignored. `%2F` stays inside its segment.
 *
 * @throws RestError `bad_request` for a malformed escape, a control character or bytes that aren't ASCII; `not_found`
 *   for an empty segment, and for `#` and `\`, which are invalid in paths
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

/** One pass over the characters: finds segments and query, and refuses invalid characters. */
function split(target: string, start: number, authority: string | undefined): Target {
	const segments: string[] = []
	let from = start + 1
	let isEscaped = false
	let at = from
	for (; at < target.length; at++) {
		const code = target.charCodeAt(at)
		if (code > QUESTION && code < 0x7f && code !== BACKSLASH) continue
		if (code === QUESTION) break
		if (code === SLASH) {
			segments.push(segment(target, from, at, isEscaped))
			from = at + 1
			isEscaped = false
		} else if (code === PERCENT) isEscaped = true
		else if (code <= 0x20 || code >= 0x7f)
			throw new RestError('bad_request', 'The path holds a character that must be percent-encoded')
		else if (code === NUMBER_SIGN || code === BACKSLASH) throw new RestError('not_found')
	}
	if (at > from) segments.push(segment(target, from, at, isEscaped))
	const query = at < target.length ? target.slice(at + 1) : ''
	return { segments, query, authority }
}

function segment(target: string, from: number, to: number, isEscaped: boolean): string {
	if (from === to) throw new RestError('not_found')
	const raw = target.slice(from, to)
	return isEscaped ? decodeSegment(raw) : raw
}

function decodeSegment(raw: string): string {
	let text: string
	try {
		text = decodeURIComponent(raw)
	} catch {
		throw new RestError(
			'bad_request',
			'The path holds a malformed percent escape: write % as %25, and other characters as escaped UTF-8',
		)
	}
	// A NUL would end an id early in a C library, and a line break would split a header or log line.
	if (/[\x00-\x1f\x7f]/.test(text)) throw new RestError('bad_request', 'The path holds a control character')
	return text
}

/** A path with nothing to remove or escape. */
const PLAIN = /^\/[!"$-~]*$/

/**
 * The path of a target as it was sent, for logs. Query, fragment and the userinfo of an absolute form are removed,
 * because they may contain secrets. Invalid characters are escaped: HTTP/2 lets bytes through that a terminal
 * interprets as control sequences.
 */
export function loggedPath(target: string): string {
	const query = target.indexOf('?')
	const sent = query === -1 ? target : target.slice(0, query)
	if (PLAIN.test(sent)) return sent
	const path = sent.replace(/#.*$/s, '').replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '')
	return path === '' ? '/' : path.replaceAll(/[^!-~]/g, percentEncode)
}

function percentEncode(character: string): string {
	return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
