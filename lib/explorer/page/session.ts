/**
 * Who the page's requests come from. Token and key are in a closure, and nowhere else: not in the document, not in
 * the address, not in any storage. The key can't be read even here: it only signs.
 */
import { signRequest } from '../../client/sign-request.ts'
import { decodeBase64 } from '../../wire/base64.ts'

export interface Session {
	/** What is sent: nothing but cookies, a token, or a signature. */
	readonly kind: 'none' | 'bearer' | 'hmac'
	/** The key's id. */
	readonly keyId: string
	/** `fetch` with the credentials. */
	send(url: string, init: RequestInit): Promise<Response>
}

export const NOBODY: Session = {
	kind: 'none',
	keyId: '',
	send: (url, init) => fetch(url, init),
}

export function bearerSession(token: string): Session {
	return {
		kind: 'bearer',
		keyId: '',
		send(url, init) {
			const headers = new Headers(init.headers)
			headers.set('Authorization', `Bearer ${token}`)
			return fetch(url, { ...init, headers })
		},
	}
}

/**
 * Signs each request anew.
 *
 * @throws TypeError for a secret that is no base64 of 32 bytes or more, and on pages that aren't secure
 */
export async function hmacSession(id: string, secret: string): Promise<Session> {
	const bytes = decodeBase64(secret)
	if (bytes === undefined) throw new TypeError('The secret is no base64 with padding.')
	if (bytes.length < 32) throw new TypeError('The secret must have at least 32 bytes.')
	if (globalThis.crypto?.subtle === undefined)
		throw new TypeError('Browsers sign on https and on localhost alone.')
	const algorithm = { name: 'HMAC', hash: 'SHA-256' }
	const raw = new Uint8Array(bytes)
	const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
	bytes.fill(0)
	raw.fill(0)
	return {
		kind: 'hmac',
		keyId: id,
		async send(url, init) {
			return fetch(await signRequest(new Request(url, init), { id, secret: key }))
		},
	}
}
