/**
 * Parses the signatures of a request, `Signature-Input` and `Signature` (RFC 9421 §4), and verifies them: that one covers
 * enough of the request, is valid now, and was made with the key. For `hmac-authenticator.ts`, which then compares the
 * body's digest and stores the nonce (`nonces.ts`).
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Seconds } from '../../base/time.ts'
import type { Request } from '../../request/request.ts'
import {
	componentName,
	MAX_NAME_LENGTH,
	type RequestComponents,
	SIGNED_IF_SENT,
	signatureBase,
	TARGET,
} from '../../wire/signature.ts'
import {
	type BareItem,
	type InnerList,
	isInnerList,
	type Member,
	parseDictionary,
} from '../../wire/structured-fields.ts'
import { type CompiledKey, MIN_SECRET_BYTES } from './keys.ts'

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

/** A signature that covers enough and is valid now; its key hasn't been checked yet. */
export interface Claim {
	readonly sent: SentSignature
	/** The text that was signed. */
	readonly base: string
}

/** Maximum number of signatures that are checked: each costs an HMAC. Proxies add one or two. */
const MAX_SIGNATURES = 4

/** How far a client's clock may be ahead. */
export const MAX_CLOCK_SKEW: Seconds = 60

/**
 * The secret for unknown keys, so that they take as long as known ones. It can be public, because its signatures are
 * refused anyway. It isn't random, because workerd has no random bytes while modules are loaded.
 */
const DECOY: readonly KeyObject[] = [createSecretKey(Buffer.alloc(MIN_SECRET_BYTES))]

const COMPONENTS = '"@method" "@authority" "@path" "@query"'
const PARAMETERS = ';created;alg="hmac-sha256"'

/**
 * What a 401 asks clients to sign, without and with a body (RFC 9421 §5.1). It can't ask for a nonce that the client
 * chooses.
 */
export const ACCEPT_SIGNATURE = `sig=(${COMPONENTS})${PARAMETERS}, sig-body=(${COMPONENTS} "content-type" "content-digest")${PARAMETERS}`

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

/** Parses a signature, and checks all but its key. @throws RangeError if it doesn't cover enough or isn't valid now */
export function claimOf(
	request: Request,
	components: RequestComponents,
	pair: SignaturePair,
	now: number,
	windowSeconds: Seconds,
): Claim {
	const sent = readSignature(pair)
	checkTimes(sent, now, windowSeconds)
	checkCovered(request, sent)
	return { sent, base: signatureBase(components, sent.covered) }
}

/**
 * Whether one of the key's secrets made the signature. Constant-time: the time depends on the text and the number of
 * secrets (one for an unknown key), not on the signature.
 */
export function isSignedBy(key: CompiledKey | undefined, { base, sent: { bytes } }: Claim): boolean {
	let isValid = false
	for (const secret of key?.secrets ?? DECOY) {
		const expected = createHmac('sha256', secret).update(base).digest()
		if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) isValid = true
	}
	return isValid && key !== undefined
}

/** Whether the body's digest must be checked: there is a body, or the signature covers a digest. */
export function isDigestDue(request: Request, { names }: SentSignature): boolean {
	return request.hasBody || names.includes('content-digest')
}

/** @throws RangeError that names the first required component that isn't covered */
function checkCovered(request: Request, { names }: SentSignature): void {
	const require = (name: string): void => {
		if (!names.includes(name)) throw new RangeError(`${name} is not covered`)
	}
	require('@method')
	if (!names.includes('@target-uri')) TARGET.forEach(require)
	if (request.hasBody) {
		require('content-digest')
		if (isSent(request, 'content-type')) require('content-type')
	}
	for (const name of SIGNED_IF_SENT) if (isSent(request, name)) require(name)
}

function isSent(request: Request, name: string): boolean {
	return request.header(name) !== undefined
}

/** @param now seconds since 1970 @throws RangeError for a signature that isn't valid now */
function checkTimes({ created, expires }: SentSignature, now: number, windowSeconds: Seconds): void {
	if (created > now + MAX_CLOCK_SKEW)
		throw new RangeError(`created is more than ${MAX_CLOCK_SKEW} s ahead of the server's clock`)
	if (created < now - windowSeconds) throw new RangeError(`created is more than ${windowSeconds} s ago`)
	if (expires !== undefined && expires < now) throw new RangeError('the signature has expired')
}

/** @throws RangeError unless it is an HMAC signature with all required parameters */
function readSignature([covered, signature]: SignaturePair): SentSignature {
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
