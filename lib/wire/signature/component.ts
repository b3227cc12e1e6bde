/** The values of a request's components, as RFC 9421 §2 derives them. Those with parameters: `component-parameters.ts`. */

import type { ItemParameters } from '../structured/fields.ts'
import type { FieldKind } from '../structured/strict-field.ts'

/** A request as its signer and its verifier must both see it. */
export interface SignedRequest {
	/** As on the wire. */
	readonly method: string
	readonly scheme: 'http' | 'https'
	/** Host and port: see `authorityOf`. */
	readonly authority: string
	/** The request-target as on the wire: `/foo?a=1`, or in absolute form. */
	readonly target: string
	/** The values of a field's lines, by its name in lower case; none for a field that isn't there. */
	fieldLines(name: string): readonly string[]
	/** Fields of the application's own that are Structured Fields, by name in lower case. */
	readonly structuredFields?: Readonly<Record<string, FieldKind>>
}

/** A field's name in lower case (RFC 9421 §2.1). */
const FIELD_NAME = /^[!#$%&'*+.^`|~\da-z_-]+$/

/** The components of one request that have no parameters: what a client signs. */
export class RequestComponents {
	readonly #request: SignedRequest

	constructor(request: SignedRequest) {
		this.#request = request
	}

	/**
	 * The value of a component.
	 *
	 * @throws RangeError, or SyntaxError, for a component that a request doesn't have (RFC 9421 §2.5)
	 */
	value(name: string, parameters: ItemParameters): string {
		if (parameters.size > 0) return this.withParameters(name, parameters)
		return name.startsWith('@') ? derived(this.#request, name) : joined(this.lines(name))
	}

	/** A field's lines, of which there is at least one. */
	protected lines(name: string): readonly string[] {
		if (!FIELD_NAME.test(name)) throw new RangeError('a covered field is not named in lower case')
		const lines = this.#request.fieldLines(name)
		if (lines.length === 0) throw new RangeError(`the covered field ${name} is not there`)
		return lines
	}

	protected withParameters(name: string, _parameters: ItemParameters): string {
		throw new RangeError(`the covered ${name} has a parameter that it can't have`)
	}
}

function derived(request: SignedRequest, name: string): string {
	const { method, scheme, authority, target } = request
	switch (name) {
		case '@method':
			return method
		case '@authority':
			return authority
		case '@scheme':
			return scheme
		case '@request-target':
			return target
		case '@target-uri':
			return `${scheme}://${authority}${tailOf(target)}`
		case '@path':
			return pathOf(target)
		case '@query':
			return `?${queryOf(target)}`
		default:
			// `@status` is a response's; `@signature-params` stands at the end, and can't cover itself.
			throw new RangeError('there is no such derived component of a request')
	}
}

/** What follows scheme and authority of an absolute target (RFC 9112 §3.2.2), `/` where that is no path. */
function tailOf(target: string): string {
	if (target.startsWith('/')) return target
	const [, tail] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
	if (tail === undefined) throw new RangeError('the request-target has no path')
	return tail.startsWith('/') ? tail : `/${tail}`
}

function pathOf(target: string): string {
	const tail = tailOf(target)
	const at = tail.indexOf('?')
	return at === -1 ? tail : tail.slice(0, at)
}

export function queryOf(target: string): string {
	const tail = tailOf(target)
	const at = tail.indexOf('?')
	return at === -1 ? '' : tail.slice(at + 1)
}

/** Without the whitespace around each line (RFC 9421 §2.1). node takes no folded lines, nor does the base. */
export function joined(lines: readonly string[]): string {
	return lines.length === 1 ? trimmed(lines[0] ?? '') : lines.map(trimmed).join(', ')
}

/** Of spaces and tabs alone: `trim()` takes U+00A0 too, which is a byte of a value. */
export function trimmed(line: string): string {
	let from = 0
	let to = line.length
	while (from < to && isBlank(line.charCodeAt(from))) from++
	while (to > from && isBlank(line.charCodeAt(to - 1))) to--
	return line.slice(from, to)
}

function isBlank(code: number): boolean {
	return code === 0x20 || code === 0x09
}

/**
 * Host and port as they are signed (RFC 9421 §2.2.3): in lower case, without the scheme's own port, `443` of
 * https and `80` of http.
 */
export function authorityOf(host: string, scheme: 'http' | 'https'): string {
	const authority = host.toLowerCase()
	const usual = scheme === 'https' ? ':443' : ':80'
	return authority.endsWith(usual) ? authority.slice(0, -usual.length) : authority
}
