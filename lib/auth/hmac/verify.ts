/**
 * Verifies a signature: that it covers enough of the request, is valid now, and was made with the key. For
 * `hmac-authenticator.ts`, which then compares the body's digest and stores the nonce (`nonces.ts`).
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Seconds } from '../../base/time.ts'
import type { Request } from '../../request/request.ts'
import { type RequestComponents, SIGNED_IF_SENT, signatureBase, TARGET } from '../../wire/signature.ts'
import { type CompiledKey, MIN_SECRET_BYTES } from './keys.ts'
import { readSignature, type SentSignature, type SignaturePair } from './parse-signature.ts'

/** A signature that covers enough and is valid now; its key hasn't been checked yet. */
export interface Claim {
	readonly sent: SentSignature
	/** The text that was signed. */
	readonly base: string
}

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
