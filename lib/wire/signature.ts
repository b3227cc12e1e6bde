/**
 * HTTP message signatures (RFC 9421): the components that a signature covers, their values, and the signature base, the
 * text that is signed. The server builds it from a received request, the client from the one it sends.
 */
import { encodeBase64 } from './base64.ts'
import {
	type BareItem,
	type Dictionary,
	type InnerList,
	type Item,
	type ItemParameters,
	parseDictionary,
} from './structured-fields.ts'
import { type FieldKind, innerListTextOf, itemText, memberText, strictText } from './structured-text.ts'

/** Parts of the target (RFC 9421 §2.2); `@target-uri` stands for all three. */
export const TARGET: readonly string[] = ['@authority', '@path', '@query']

/** Fields that change what a request does: adding one to a signed request must invalidate the signature. */
export const SIGNED_IF_SENT: readonly string[] = ['x-http-method-override', 'idempotency-key', 'if-match']

/**
 * Maximum length of a key's id and of a nonce. Ids are looked up and logged before the signature is verified, nonces
 * are stored.
 */
export const MAX_NAME_LENGTH = 128

/** Without a limit, a client without a key could make the server search thousands of headers thousands of times. */
const MAX_COMPONENTS = 64

/**
 * Builds the text that is signed from an inner list of component identifiers with the signature's parameters.
 *
 *     "@method": POST
 *     "@authority": example.com
 *     "@signature-params": ("@method" "@authority");created=1618884473;keyid="k1"
 *
 * @throws RangeError if RFC 9421 §2.5 defines no base for these components
 */
export function signatureBase(components: RequestComponents, covered: InnerList): string {
	if (covered.items.length > MAX_COMPONENTS)
		throw new RangeError(`more than ${MAX_COMPONENTS} components are covered`)
	const identities: string[] = []
	const identifiers: string[] = []
	let base = ''
	for (const item of covered.items) {
		const name = componentName(item)
		const identifier = itemText(item)
		identifiers.push(identifier)
		const identity = item.parameters.size < 2 ? identifier : identityOf(item)
		if (identities.includes(identity)) throw new RangeError('a component is covered twice')
		identities.push(identity)
		const value = components.value(name, item.parameters)
		// A line break in a value could pass for another line (RFC 9421 §7.5.5).
		if (!/^[\x20-\x7e\t]*$/.test(value)) throw new RangeError(`the value of ${name} is not ASCII`)
		base += `${identifier}: ${value}\n`
	}
	return `${base}"@signature-params": ${innerListTextOf(identifiers, covered.parameters)}`
}

/** The name of a component. @throws RangeError if it isn't a string (RFC 9421 §2) */
export function componentName({ value }: Item): string {
	if (value.type === 'string') return value.value
	throw new RangeError('a component identifier is not a string')
}

/** An identifier with sorted parameters: their order makes no difference (RFC 9421 §2). */
function identityOf(item: Item): string {
	const sorted = [...item.parameters].sort(([a], [b]) => (a < b ? -1 : 1))
	return itemText({ value: item.value, parameters: new Map<string, BareItem>(sorted) })
}

/** The parts of a request that signer and verifier need. */
export interface SignedRequest {
	/** As on the wire. */
	readonly method: string
	readonly scheme: 'http' | 'https'
	/** Host and port: see `authorityOf`. */
	readonly authority: string
	/** The request-target as on the wire: `/foo?a=1`, or in absolute form. */
	readonly target: string
	/** The values of a field's lines, by its name in lower case; empty for an absent field. */
	fieldLines(name: string): readonly string[]
	/** The application's own Structured Fields, by name in lower case. */
	readonly structuredFields?: Readonly<Record<string, FieldKind>>
}

/** Field names are in lower case (RFC 9421 §2.1). */
const FIELD_NAME = /^[!#$%&'*+.^`|~\da-z_-]+$/

/** The components of a request, without parameters: our client signs no others. */
export class RequestComponents {
	protected readonly request: SignedRequest

	constructor(request: SignedRequest) {
		this.request = request
	}

	/**
	 * The value of a component.
	 *
	 * @throws RangeError or SyntaxError for a component that the request doesn't have (RFC 9421 §2.5)
	 */
	value(name: string, parameters: ItemParameters): string {
		if (parameters.size > 0) return this.withParameters(name, parameters)
		return name.startsWith('@') ? derived(this.request, name) : joined(this.lines(name))
	}

	/** A field's lines, at least one. */
	protected lines(name: string): readonly string[] {
		if (!FIELD_NAME.test(name)) throw new RangeError('the name of a covered field is not in lower case')
		const lines = this.request.fieldLines(name)
		if (lines.length === 0) throw new RangeError(`the covered field ${name} is missing`)
		return lines
	}

	protected withParameters(name: string, _parameters: ItemParameters): string {
		throw new RangeError(`the covered ${name} has a disallowed parameter`)
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
			return splitTarget(target)[0]
		case '@query':
			return `?${splitTarget(target)[1]}`
		default:
			// `@status` belongs to responses; `@signature-params` is the last line, and can't cover itself.
			throw new RangeError('a request has no such derived component')
	}
}

/** Path and query of a target, which may be absolute (RFC 9112 §3.2.2). */
function tailOf(target: string): string {
	if (target.startsWith('/')) return target
	const [, tail] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
	if (tail === undefined) throw new RangeError('the request-target has no path')
	return tail.startsWith('/') ? tail : `/${tail}`
}

function splitTarget(target: string): [path: string, query: string] {
	const tail = tailOf(target)
	const at = tail.indexOf('?')
	return at === -1 ? [tail, ''] : [tail.slice(0, at), tail.slice(at + 1)]
}

/**
 * Joins the lines of a field, without whitespace around each (RFC 9421 §2.1). Node refuses folded lines, and so
 * does {@link signatureBase}.
 */
function joined(lines: readonly string[]): string {
	return lines.length === 1 ? trimmed(lines[0] ?? '') : lines.map(trimmed).join(', ')
}

/** Removes spaces and tabs. Not `trim()`, which would also remove U+00A0, a byte of the value. */
function trimmed(line: string): string {
	let from = 0
	let to = line.length
	while (from < to && isBlank(line.charCodeAt(from))) from++
	while (to > from && isBlank(line.charCodeAt(to - 1))) to--
	return line.slice(from, to)
}

function isBlank(code: number): boolean {
	return code === 0x20 || code === 0x09
}

/** Host and port as they are signed (RFC 9421 §2.2.3): in lower case, without the scheme's default port. */
export function authorityOf(host: string, scheme: 'http' | 'https'): string {
	const authority = host.toLowerCase()
	const usual = scheme === 'https' ? ':443' : ':80'
	return authority.endsWith(usual) ? authority.slice(0, -usual.length) : authority
}

/**
 * Adds components with parameters, for servers: `sf`, `key` and `bs` of fields, and query parameters (RFC 9421 §2.1,
 * §2.2.8). Parsed fields and queries are cached for the other components.
 */
export class ParameterComponents extends RequestComponents {
	readonly #dictionaries = new Map<string, Dictionary>()
	#query: ReadonlyMap<string, readonly string[]> | undefined = undefined

	protected override withParameters(name: string, parameters: ItemParameters): string {
		if (name === '@query-param') {
			checkParameters(name, parameters, ['name'])
			return this.#queryParam(textOf(name, parameters.get('name')))
		}
		checkParameters(name, parameters, name.startsWith('@') ? [] : ['sf', 'key', 'bs'])
		return this.#field(name, parameters)
	}

	/** A query parameter's value, decoded like a form and encoded again (RFC 9421 §2.2.8). */
	#queryParam(name: string): string {
		this.#query ??= formOf(splitTarget(this.request.target)[1])
		const values = this.#query.get(decoded(name)) ?? []
		if (values.length > 1) throw new RangeError('a covered query parameter is repeated')
		const [value] = values
		if (value === undefined) throw new RangeError('a covered query parameter is missing')
		return formEncoded(value)
	}

	#field(name: string, parameters: ItemParameters): string {
		const lines = this.lines(name)
		const key = parameters.get('key')
		const isStructured = isTrue(name, parameters.get('sf'))
		if (isTrue(name, parameters.get('bs'))) {
			// "The parameter list contains both bs and sf or key" is an error: RFC 9421 §2.5.
			if (key !== undefined || isStructured) throw new RangeError('bs is combined with sf or key')
			return lines.map((line) => `:${encodeBase64(bytesOf(trimmed(line)))}:`).join(', ')
		}
		if (key === undefined) return strictText(name, joined(lines), this.request.structuredFields)
		const member = this.#dictionary(name, lines).get(textOf(name, key))
		if (member === undefined) throw new RangeError('a covered dictionary member is missing')
		return memberText(member)
	}

	#dictionary(name: string, lines: readonly string[]): Dictionary {
		const dictionary = this.#dictionaries.get(name) ?? parseDictionary(joined(lines))
		this.#dictionaries.set(name, dictionary)
		return dictionary
	}
}

function formOf(query: string): ReadonlyMap<string, readonly string[]> {
	const form = new Map<string, string[]>()
	// Not for-of: programs that compile this may have no types for the DOM's iterators.
	new URLSearchParams(query).forEach((value, name) => {
		const values = form.get(name)
		if (values === undefined) form.set(name, [value])
		else values.push(value)
	})
	return form
}

/** Decodes a name. @throws RangeError if it isn't canonically percent-encoded */
function decoded(name: string): string {
	try {
		const text = decodeURIComponent(name)
		if (formEncoded(text) === name) return text
	} catch {}
	throw new RangeError('the name of a covered query parameter is not canonically encoded')
}

/** Encodes with the application/x-www-form-urlencoded percent-encode set of WHATWG URL; a space becomes `%20`. */
function formEncoded(text: string): string {
	return encodeURIComponent(text).replaceAll(
		/[!'()~]/g,
		(character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
	)
}

/** The bytes of a header, which Node and fetch decode as Latin-1. */
function bytesOf(line: string): Uint8Array {
	return Uint8Array.from(line, (character) => {
		const code = character.charCodeAt(0)
		if (code > 0xff) throw new RangeError('a covered field has a character above U+00FF')
		return code
	})
}

/**
 * "The signature parameters contain a component parameter that is not understood" is an error (RFC 9421 §2.5). That
 * includes `req` and `tr`.
 */
function checkParameters(name: string, parameters: ItemParameters, allowed: readonly string[]): void {
	for (const parameter of parameters.keys()) {
		if (!allowed.includes(parameter)) throw new RangeError(`the covered ${name} has a disallowed parameter`)
	}
}

function isTrue(name: string, flag: BareItem | undefined): boolean {
	if (flag === undefined) return false
	if (flag.value === true) return true
	throw new RangeError(`the covered ${name} has a flag that is not true`)
}

function textOf(name: string, item: BareItem | undefined): string {
	if (item?.type === 'string') return item.value
	throw new RangeError(`the covered ${name} needs a string as its parameter`)
}
