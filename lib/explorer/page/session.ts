/**
 * The credentials of the page's requests. Token and key exist only in a closure, not in the document, the address or any
 * storage. The key isn't extractable: even this script can only sign with it.
 */
import { signRequest } from '../../client/sign-request.ts'
import { decodeBase64 } from '../../wire/base64.ts'

export interface Session {
	/** `none` sends cookies only. */
	readonly kind: 'none' | 'bearer' | 'hmac'
	/** The id of an HMAC key, else empty. */
	readonly keyId: string
	/** A request with the credentials. */
	request(url: string, init: RequestInit): Promise<Request>
}

export const ANONYMOUS: Session = {
	kind: 'none',
	keyId: '',
	request: async (url, init) => new Request(url, init),
}

export function bearerSession(token: string): Session {
	return {
		kind: 'bearer',
		keyId: '',
		async request(url, init) {
			const request = new Request(url, init)
			request.headers.set('Authorization', `Bearer ${token}`)
			return request
		},
	}
}

/** @throws TypeError for a secret that isn't base64 of at least 32 bytes, and on pages that aren't secure */
export async function hmacSession(id: string, secret: string): Promise<Session> {
	const bytes = decodeBase64(secret)
	if (bytes === undefined) throw new TypeError('The secret must be base64 with padding.')
	if (bytes.length < 32) throw new TypeError('The secret must have at least 32 bytes.')
	if (globalThis.crypto?.subtle === undefined)
		throw new TypeError('Browsers can sign on https and localhost only.')
	const algorithm = { name: 'HMAC', hash: 'SHA-256' }
	const raw = new Uint8Array(bytes)
	const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
	bytes.fill(0)
	raw.fill(0)
	return {
		kind: 'hmac',
		keyId: id,
		request: (url, init) => signRequest(new Request(url, init), { id, secret: key }),
	}
}
