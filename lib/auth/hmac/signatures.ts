/**
 * Parses the signatures of a request, `Signature-Input` and `Signature` (RFC 9421 §4), checks their covered components and
 * times, and stores their nonces. For `hmac-authenticator.ts`.
 */

import { hash } from 'node:crypto'
import type { RestError } from '../../base/error.ts'
import type { Seconds } from '../../base/time.ts'
import { type Cache, CacheFull, cacheRefusal, isCallerFull } from '../../cache/cache.ts'
import { sharedKey } from '../../cache/shares.ts'
import type { Request } from '../../request/request.ts'
import { componentName, MAX_NAME_LENGTH, SIGNED_IF_SENT, TARGET } from '../../wire/signature.ts'
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

/** How far a client's clock may be ahead. */
const MAX_CLOCK_SKEW: Seconds = 60

const COMPONENTS = '"@method" "@authority" "@path" "@query"'
const PARAMETERS = ';created;alg="hmac-sha256"'

/**
 * What a 401 asks clients to sign, without and with a body (RFC 9421 §5.1). It can't ask for a nonce that the client
 * chooses.
 */
export const ACCEPT_SIGNATURE = `sig=(${COMPONENTS})${PARAMETERS}, sig-body=(${COMPONENTS} "content-type" "content-digest")${PARAMETERS}`

/** Whether the body's digest must be checked: there is a body, or the signature covers a digest. */
export function isDigestDue(request: Request, { names }: SentSignature): boolean {
	return request.hasBody || names.includes('content-digest')
}

/** @throws RangeError that names the first required component that isn't covered */
export function checkCovered(request: Request, { names }: SentSignature): void {
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
export function checkTimes({ created, expires }: SentSignature, now: number, windowSeconds: Seconds): void {
	if (created > now + MAX_CLOCK_SKEW)
		throw new RangeError(`created is more than ${MAX_CLOCK_SKEW} s ahead of the server's clock`)
	if (created < now - windowSeconds) throw new RangeError(`created is more than ${windowSeconds} s ago`)
	if (expires !== undefined && expires < now) throw new RangeError('the signature has expired')
}

const TOO_MANY = 'Too many requests were signed with this key: wait until earlier signatures have expired'

/**
 * Stores a nonce in the cache for as long as its signature is valid, under `nonce:<keyid>:<SHA-256 of keyid and
 * nonce>`. Returns false if another request has used the nonce.
 *
 * @throws RestError `unavailable` if the nonce can't be stored, because a replay could not be detected;
 *   `too_many_requests` if this key has used up its share of the cache
 */
export function useNonce(
	request: Request,
	cache: Cache,
	{ keyid, nonce, created }: SentSignature,
	now: number,
	windowSeconds: Seconds,
): boolean | Promise<boolean> {
	// The length is hashed too, because ("a", "bc") and ("ab", "c") must differ.
	const key = sharedKey('nonce', keyid, hash('sha256', `${keyid.length}:${keyid}${nonce}`, 'base64url'))
	// The same request may be authenticated more than once: its own nonce isn't a replay.
	request.usedNonces ??= []
	const used = request.usedNonces.find((one) => one.cache === cache && one.key === key)
	if (used !== undefined) return used.isNew
	const isNew = add(cache, key, created + windowSeconds + MAX_CLOCK_SKEW - now, windowSeconds)
	request.usedNonces.push({ cache, key, isNew })
	return isNew
}

/** Synchronous if the cache is. */
function add(
	cache: Cache,
	key: string,
	ttlSeconds: Seconds,
	windowSeconds: Seconds,
): boolean | Promise<boolean> {
	const refusal = (cause: unknown): RestError => cacheRefusal(explained(cause, windowSeconds), TOO_MANY)
	try {
		const added: unknown = cache.add(key, 1, ttlSeconds)
		if (typeof added === 'boolean') return added
		return Promise.resolve(added).then(
			(answer) => answer === true,
			(cause: unknown) => {
				throw refusal(cause)
			},
		)
	} catch (cause) {
		throw refusal(cause)
	}
}

function explained(cause: unknown, windowSeconds: Seconds): unknown {
	if (!(cause instanceof CacheFull) || isCallerFull(cause)) return cause
	const need = `signed requests per second × ${windowSeconds + MAX_CLOCK_SKEW} entries`
	return new Error(`a nonce could not be stored, because ${cause.message} (${need} are needed)`, { cause })
}
