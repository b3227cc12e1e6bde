/** Serializes Structured Fields in their canonical form (RFC 9651 §4.1), for `signature.ts` and `signRequest`. */
import { encodeBase64 } from './base64.ts'
import {
	type BareItem,
	type Dictionary,
	type InnerList,
	type Item,
	type ItemParameters,
	isInnerList,
	type List,
	type Member,
	parseDictionary,
	parseItem,
	parseList,
} from './structured-fields.ts'

export function dictionaryText(dictionary: Dictionary): string {
	return [...dictionary].map(([key, member]) => memberOf(key, member)).join(', ')
}

export function listText(list: List): string {
	return list.map(memberText).join(', ')
}

export function memberText(member: Member): string {
	return isInnerList(member) ? innerListText(member) : itemText(member)
}

export function innerListText({ items, parameters }: InnerList): string {
	return innerListTextOf(items.map(itemText), parameters)
}

/** {@link innerListText} for items that are already text. */
export function innerListTextOf(items: readonly string[], parameters: ItemParameters): string {
	return `(${items.join(' ')})${parametersText(parameters)}`
}

export function itemText({ value, parameters }: Item): string {
	return bareItemText(value) + parametersText(parameters)
}

/** @throws RangeError for an invalid name of a member or a parameter (RFC 9651 §4.1.1.3) */
function checkedKey(key: string): string {
	if (/^[a-z*][a-z\d_.*-]*$/.test(key)) return key
	throw new RangeError('a name in a Structured Field must begin with a lower-case letter or *')
}

/** `a=1;b`; `true` is written without a value. */
function memberOf(key: string, member: Member): string {
	return !isInnerList(member) && member.value.value === true
		? checkedKey(key) + parametersText(member.parameters)
		: `${checkedKey(key)}=${memberText(member)}`
}

function parametersText(parameters: ItemParameters): string {
	let text = ''
	for (const [key, item] of parameters)
		text += item.value === true ? `;${checkedKey(key)}` : `;${checkedKey(key)}=${bareItemText(item)}`
	return text
}

/** @throws RangeError for a value that a Structured Field can't hold */
export function bareItemText(item: BareItem): string {
	switch (item.type) {
		case 'string':
			return stringText(item.value)
		case 'integer':
			return integerText(item.value)
		case 'token':
			return tokenText(item.value)
		case 'bytes':
			return `:${encodeBase64(item.value)}:`
		case 'boolean':
			return item.value ? '?1' : '?0'
		case 'decimal':
			return decimalText(item.value)
		case 'date':
			return `@${integerText(item.value)}`
		case 'display':
			return displayText(item.value)
	}
}

function stringText(value: string): string {
	if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(value)) return `"${value}"`
	if (!/^[\x20-\x7e]*$/.test(value))
		throw new RangeError('a string in a Structured Field must be printable ASCII')
	return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

function integerText(value: number): string {
	if (Number.isInteger(value) && Math.abs(value) <= 999_999_999_999_999) return String(value)
	throw new RangeError('an integer in a Structured Field must have at most 15 digits')
}

function tokenText(value: string): string {
	if (/^[A-Za-z*][!#$%&'*+.^`|~\w:/-]*$/.test(value)) return value
	throw new RangeError('a token in a Structured Field must begin with a letter or *, and have no spaces')
}

/** At most three digits after the point, rounded half to even (RFC 9651 §4.1.5). */
function decimalText(value: number): string {
	const scaled = value * 1_000
	const floor = Math.floor(scaled)
	const isUp = scaled - floor > 0.5 || (scaled - floor === 0.5 && floor % 2 !== 0)
	const thousandths = isUp ? floor + 1 : floor
	if (!(Math.abs(thousandths) < 1e15))
		throw new RangeError('a decimal in a Structured Field must have at most 12 digits before its point')
	return (thousandths / 1_000).toFixed(3).replace(/0{1,2}$/, '')
}

function displayText(value: string): string {
	let text = ''
	for (const byte of new TextEncoder().encode(value)) {
		const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x25 && byte !== 0x22
		text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`
	}
	return `%"${text}"`
}

export type FieldKind = 'dictionary' | 'list' | 'item'

/** Structured Fields of requests. Their kind must be known, because a text can be valid as several kinds. */
const STRUCTURED: ReadonlyMap<string, FieldKind> = new Map([
	['accept-signature', 'dictionary'],
	['content-digest', 'dictionary'],
	['idempotency-key', 'item'],
	['priority', 'dictionary'],
	['repr-digest', 'dictionary'],
	['signature', 'dictionary'],
	['signature-input', 'dictionary'],
	['want-content-digest', 'dictionary'],
	['want-repr-digest', 'dictionary'],
])

/**
 * A field's value in canonical form, for the component parameter `sf` (RFC 9421 §2.1.1).
 *
 * @param own the application's own fields, by name in lower case
 * @throws RangeError for an unknown field, SyntaxError for a malformed value
 */
export function strictText(
	name: string,
	text: string,
	own: Readonly<Record<string, FieldKind>> | undefined,
): string {
	const kind = own !== undefined && Object.hasOwn(own, name) ? own[name] : STRUCTURED.get(name)
	if (kind === undefined) throw new RangeError(`sf needs a known Structured Field, which ${name} is not`)
	if (kind === 'dictionary') return dictionaryText(parseDictionary(text))
	return kind === 'list' ? listText(parseList(text)) : itemText(parseItem(text))
}
