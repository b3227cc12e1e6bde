/**
 * Parses the signatures of a request, `Signature-Input` and `Signature` (RFC 9421 §4). For `hmac-authenticator.ts`;
 * `verify.ts` verifies them.
 */
import { componentName, MAX_NAME_LENGTH } from '../../wire/signature.ts'
import {
	type BareItem,
	type InnerList,
	isInnerList,
	type Member,
	parseDictionary,
} from '../../wire/structured-fields.ts'

/** Maximum number of signatures that are checked: each costs an HMAC. Proxies add one or two. */
const MAX_SIGNATURES = 4

/** A parsed signature, not verified. */
export interface SentSignature {
	/** The covered components, with the signature's parameters. */
	readonly covered: InnerList
	/** Names of the components that are covered as a whole: not those with the parameter `key`, which covers one member of a field. */
	readonly names: readonly string[]
	readonly bytes: Uint8Array
	readonly keyid: string
	readonly nonce: string
	/** Seconds since 1970. */
	readonly created: number
	readonly expires: number | undefined
}

/** The members of `Signature-Input` and `Signature` with the same label. */
export type SignaturePair = readonly [covered: Member, signature: Member]

/**
 * The first four pairs, in the order of `Signature-Input`. If a label is repeated, the last one counts (RFC 9651 §3.2).
 *
 * @throws SyntaxError for a malformed header
 */
export function signaturePairs(input: string, signature: string): SignaturePair[] {
	const inputs = parseDictionary(input)
	const signatures = parseDictionary(signature)
	const pairs: SignaturePair[] = []
	for (const [label, member] of inputs) {
		const bytes = signatures.get(label)
		if (bytes !== undefined) pairs.push([member, bytes])
		if (pairs.length === MAX_SIGNATURES) break
	}
	return pairs
}

/** @throws RangeError unless it is an HMAC signature with all required parameters */
export function readSignature([covered, signature]: SignaturePair): SentSignature {
	if (!isInnerList(covered)) throw new RangeError('Signature-Input is not a list of components')
	if (isInnerList(signature) || signature.value.type !== 'bytes')
		throw new RangeError('Signature is not a byte sequence')
	const { parameters } = covered
	const algorithm = textOf(parameters.get('alg'), 'alg')
	if (algorithm !== undefined && algorithm !== 'hmac-sha256') throw new RangeError('alg is not hmac-sha256')
	// `tag` isn't used, but the RFC requires a string.
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
	throw new RangeError(`${name} is not a string`)
}

/** A keyid or nonce. Its length is limited, because keyids are looked up and nonces are stored. */
function nameOf(item: BareItem | undefined, name: string): string {
	const text = required(textOf(item, name), name)
	if (text !== '' && text.length <= MAX_NAME_LENGTH) return text
	throw new RangeError(`${name} must have 1 to ${MAX_NAME_LENGTH} characters`)
}

function secondsOf(item: BareItem | undefined, name: string): number | undefined {
	if (item === undefined || item.type === 'integer') return item?.value
	throw new RangeError(`${name} is not an integer`)
}

function required<T>(value: T | undefined, name: string): T {
	if (value === undefined) throw new RangeError(`the parameter ${name} is missing`)
	return value
}
