/** Structured Fields as text, in the one form that RFC 9651 §4.1 gives each. */

import { encodeBase64 } from '../base64.ts'
import type { BareItem } from './bare-item.ts'
import {
	type Dictionary,
	type InnerList,
	type Item,
	type ItemParameters,
	isInnerList,
	type List,
	type Member,
} from './fields.ts'

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

/** The same of items that are text already. */
export function innerListTextOf(items: readonly string[], parameters: ItemParameters): string {
	return `(${items.join(' ')})${parametersText(parameters)}`
}

export function itemText({ value, parameters }: Item): string {
	return bareItemText(value) + parametersText(parameters)
}

/** @throws RangeError for what is no name of a member or a parameter (RFC 9651 §4.1.1.3) */
function checkedKey(key: string): string {
	if (/^[a-z*][a-z\d_.*-]*$/.test(key)) return key
	throw new RangeError('a name in a Structured Field begins with a letter in lower case or *')
}

/** `a=1;b`; a member that is true has no value written. */
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

/** @throws RangeError for what no such field can say */
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
	// Most have nothing to be escaped.
	if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(value)) return `"${value}"`
	if (!/^[\x20-\x7e]*$/.test(value)) throw new RangeError('a string of a Structured Field is printable ASCII')
	return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

function integerText(value: number): string {
	if (Number.isInteger(value) && Math.abs(value) <= 999_999_999_999_999) return String(value)
	throw new RangeError('an integer of a Structured Field has at most 15 digits')
}

function tokenText(value: string): string {
	if (/^[A-Za-z*][!#$%&'*+.^`|~\w:/-]*$/.test(value)) return value
	throw new RangeError('a token of a Structured Field begins with a letter or *, and has no spaces')
}

/** Three digits at most, of which the last is rounded half to even (RFC 9651 §4.1.5). */
function decimalText(value: number): string {
	const scaled = value * 1_000
	const floor = Math.floor(scaled)
	const isUp = scaled - floor > 0.5 || (scaled - floor === 0.5 && floor % 2 !== 0)
	const thousandths = isUp ? floor + 1 : floor
	if (!(Math.abs(thousandths) < 1e15))
		throw new RangeError('a decimal of a Structured Field has at most 12 digits before its point')
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
