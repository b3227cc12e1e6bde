/** The signatures that a request carries: `Signature-Input` and `Signature` (RFC 9421 §4), label by label. */

import { componentName } from '../../wire/signature/base.ts'
import { LONGEST_NAME } from '../../wire/signature/covered.ts'
import type { BareItem } from '../../wire/structured/bare-item.ts'
import { type InnerList, isInnerList, type Member, parseDictionary } from '../../wire/structured/fields.ts'

/** How many are looked at: each costs an HMAC, and proxies in between add one or two. */
const MOST = 4

/** A signature as it was sent: nothing of it is known to be true. */
export interface SentSignature {
	/** What is covered, with the signature's parameters. */
	readonly covered: InnerList
	/** The names of what is covered as a whole: of one member of a field (`key`) the others could be changed. */
	readonly names: readonly string[]
	readonly bytes: Uint8Array
	readonly keyid: string
	readonly nonce: string
	/** Seconds since 1970. */
	readonly created: number
	readonly expires: number | undefined
}

/**
 * Both headers' members with one label, in the order of `Signature-Input`; of labels that come twice the last
 * counts (RFC 9651 §3.2). The first four are read.
 *
 * @throws SyntaxError for a malformed header
 */
export function labelled(input: string, signature: string): (readonly [Member, Member])[] {
	const inputs = parseDictionary(input)
	const signatures = parseDictionary(signature)
	const pairs: (readonly [Member, Member])[] = []
	for (const [label, member] of inputs) {
		const bytes = signatures.get(label)
		if (bytes !== undefined) pairs.push([member, bytes])
		if (pairs.length === MOST) break
	}
	return pairs
}

/** @throws RangeError for what is no signature by HMAC, or lacks a parameter that is required */
export function readSignature([covered, signature]: readonly [Member, Member]): SentSignature {
	if (!isInnerList(covered)) throw new RangeError('Signature-Input holds what is no list of components')
	if (isInnerList(signature) || signature.value.type !== 'bytes')
		throw new RangeError('Signature holds what is no bytes')
	const { parameters } = covered
	const algorithm = textOf(parameters.get('alg'), 'alg')
	if (algorithm !== undefined && algorithm !== 'hmac-sha256')
		throw new RangeError('alg is another than hmac-sha256')
	// Nothing is made of it, but its type is the RFC's.
	textOf(parameters.get('tag'), 'tag')
	return {
		covered,
		names: namesOf(covered),
		bytes: signature.value.value,
		keyid: nameOf(parameters.get('keyid'), 'keyid'),
		nonce: nameOf(parameters.get('nonce'), 'nonce'),
		created: required(secondsOf(parameters.get('created'), 'created'), 'created'),
		expires: secondsOf(parameters.get('expires'), 'expires'),
	}
}

function namesOf({ items }: InnerList): readonly string[] {
	const names: string[] = []
	for (const item of items) if (!item.parameters.has('key')) names.push(componentName(item))
	return names
}

function textOf(item: BareItem | undefined, name: string): string | undefined {
	if (item === undefined || item.type === 'string') return item?.value
	throw new RangeError(`${name} is no string`)
}

/** What is looked up, or kept: nobody is asked about a longer one. */
function nameOf(item: BareItem | undefined, name: string): string {
	const text = required(textOf(item, name), name)
	if (text !== '' && text.length <= LONGEST_NAME) return text
	throw new RangeError(`${name} has none or more than ${LONGEST_NAME} characters`)
}

function secondsOf(item: BareItem | undefined, name: string): number | undefined {
	if (item === undefined || item.type === 'integer') return item?.value
	throw new RangeError(`${name} is no integer`)
}

function required<T>(value: T | undefined, name: string): T {
	if (value === undefined) throw new RangeError(`the parameter ${name} is missing`)
	return value
}
