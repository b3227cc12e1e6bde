/**
 * `rfc9421-vectors.json`: values of RFC 9421 and RFC 9530, and signatures over further requests that two other
 * packages agree on.
 */
import { readFileSync } from 'node:fs'
import { ROOT } from '../../helpers/program.ts'

export interface Message {
	readonly method: string
	readonly requestTarget: string
	readonly headers: readonly (readonly [string, string])[]
	readonly body?: string
}

interface Vectors {
	readonly key: { readonly id: string; readonly secretB64: string }
	readonly messages: Readonly<Record<string, Message>>
	readonly hmac: readonly (Signed & { readonly message: string; readonly label: string })[]
	readonly components: readonly ComponentVector[]
	readonly baseExample: { readonly message: string; readonly lines: readonly string[] }
	readonly verifierMustFail: readonly (readonly [section: string, what: string])[]
	readonly digests: { readonly samples: readonly { input: string; alg: string; value: string }[] }
	readonly derived: readonly (Signed & {
		readonly name: string
		readonly method: string
		readonly requestTarget: string
		readonly headers: Readonly<Record<string, string>>
	})[]
}

export interface Signed {
	readonly signatureBase: string
	readonly signatureInput: string
	readonly signature: string
}

export interface ComponentVector {
	readonly section: string
	readonly request?: string
	readonly host?: string
	readonly scheme?: 'http' | 'https'
	readonly fieldLines?: readonly string[]
	readonly id: string
	readonly value: string
}

export const VECTORS = JSON.parse(
	readFileSync(`${ROOT}/test/auth/hmac/rfc9421-vectors.json`, 'utf8'),
) as Vectors
