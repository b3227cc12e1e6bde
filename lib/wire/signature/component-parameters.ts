/** Components with parameters: `sf`, `key` and `bs` of fields, and parameters of the query (RFC 9421 §2.1, §2.2.8). */

import { encodeBase64 } from '../base64.ts'
import type { BareItem } from '../structured/bare-item.ts'
import { type Dictionary, type ItemParameters, parseDictionary } from '../structured/fields.ts'
import { strictText } from '../structured/strict-field.ts'
import { memberText } from '../structured/text.ts'
import { joined, queryOf, RequestComponents, type SignedRequest, trimmed } from './component.ts'

const OF_FIELDS: readonly string[] = ['sf', 'key', 'bs']

/** All components of one request. What several of them are read from is parsed once. */
export class ParameterComponents extends RequestComponents {
	readonly #request: SignedRequest
	readonly #dictionaries = new Map<string, Dictionary>()
	#query: ReadonlyMap<string, readonly string[]> | undefined = undefined

	constructor(request: SignedRequest) {
		super(request)
		this.#request = request
	}

	protected override withParameters(name: string, parameters: ItemParameters): string {
		if (name === '@query-param') {
			only(name, parameters, ['name'])
			return this.#queryParam(textOf(name, parameters.get('name')))
		}
		only(name, parameters, name.startsWith('@') ? [] : OF_FIELDS)
		return this.#field(name, parameters)
	}

	/** A parameter's value, decoded as a form's and encoded anew (RFC 9421 §2.2.8). */
	#queryParam(name: string): string {
		this.#query ??= formOf(queryOf(this.#request.target))
		const values = this.#query.get(decoded(name)) ?? []
		if (values.length > 1) throw new RangeError('a covered parameter of the query is there twice')
		const [value] = values
		if (value === undefined) throw new RangeError('a covered parameter of the query is not there')
		return formEncoded(value)
	}

	#field(name: string, parameters: ItemParameters): string {
		const lines = this.lines(name)
		const key = parameters.get('key')
		const isStructured = isTrue(name, parameters.get('sf'))
		if (isTrue(name, parameters.get('bs'))) {
			// "The parameter list contains both bs and sf or key" is an error: RFC 9421 §2.5.
			if (key !== undefined || isStructured) throw new RangeError('bs stands together with sf or key')
			return lines.map((line) => `:${encodeBase64(bytesOf(trimmed(line)))}:`).join(', ')
		}
		if (key === undefined) return strictText(name, joined(lines), this.#request.structuredFields)
		const member = this.#dictionary(name, lines).get(textOf(name, key))
		if (member === undefined) throw new RangeError('a covered member of a dictionary is not there')
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
	for (const [name, value] of new URLSearchParams(query)) {
		const values = form.get(name)
		if (values === undefined) form.set(name, [value])
		else values.push(value)
	}
	return form
}

/** What a name in its one encoding stands for. */
function decoded(name: string): string {
	try {
		const text = decodeURIComponent(name)
		if (formEncoded(text) === name) return text
	} catch {}
	throw new RangeError('a parameter of the query is named in another encoding')
}

/** The application/x-www-form-urlencoded percent-encode set of WHATWG URL, which a space is in too. */
function formEncoded(text: string): string {
	return encodeURIComponent(text).replaceAll(
		/[!'()~]/g,
		(character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
	)
}

/** node and fetch give a header's bytes as characters below 256. */
function bytesOf(line: string): Uint8Array {
	return Uint8Array.from(line, (character) => {
		const code = character.charCodeAt(0)
		if (code > 0xff) throw new RangeError('a covered field holds what no byte stands for')
		return code
	})
}

/** "The signature parameters contain a component parameter that is not understood": RFC 9421 §2.5; `req` and `tr` too. */
function only(name: string, parameters: ItemParameters, known: readonly string[]): void {
	for (const parameter of parameters.keys()) {
		if (!known.includes(parameter))
			throw new RangeError(`the covered ${name} has a parameter that it can't have`)
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
