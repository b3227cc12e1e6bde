/** What a signature must cover to say anything about a request, and how old it may be. */

import type { Seconds } from '../../base/time.ts'
import type { Request } from '../../request/request.ts'
import { TARGET, WHEN_SENT } from '../../wire/signature/covered.ts'
import type { SentSignature } from './signatures.ts'

/** How far a client's clock may be ahead. */
export const AHEAD: Seconds = 60

const LIST = '"@method" "@authority" "@path" "@query"'
const HOW = ';created;alg="hmac-sha256"'

/** Asks for signatures of requests without and with a body (RFC 9421 §5.1); a nonce can't be asked for there. */
export const ACCEPT_SIGNATURE = `sig=(${LIST})${HOW}, sig-body=(${LIST} "content-type" "content-digest")${HOW}`

/** Whether something of the request's body is signed, or there is a body, which then must be. */
export function isDigestDue(request: Request, { names }: SentSignature): boolean {
	return request.hasBody || names.includes('content-digest')
}

/** @throws RangeError that names what isn't covered */
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
	for (const name of WHEN_SENT) if (isSent(request, name)) require(name)
}

function isSent(request: Request, name: string): boolean {
	return request.header(name) !== undefined
}

/** `now` and all times are seconds since 1970. @throws RangeError for a signature that isn't valid now */
export function checkTimes({ created, expires }: SentSignature, now: number, windowSeconds: Seconds): void {
	if (created > now + AHEAD) throw new RangeError(`created is more than ${AHEAD} s ahead of our clock`)
	if (created < now - windowSeconds) throw new RangeError(`created is more than ${windowSeconds} s ago`)
	if (expires !== undefined && expires < now) throw new RangeError('expires is over')
}
