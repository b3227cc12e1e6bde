/** Keys of `HmacAuthenticator`: what a user declares, checked and made ready to sign with. */
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { decodeBase64 } from '../../wire/base64.ts'

/**
 * At least 32 random bytes (RFC 2104 §3: shorter ones than the hash weaken it), or the same as base64 with its
 * padding: what `openssl rand -base64 32` prints.
 */
export type HmacSecret = string | Uint8Array

/** A key's secrets, and what is known of its user. */
export interface HmacKey {
	/** More than one while they are changed: whatever any of them has signed is good. */
	readonly secret: HmacSecret | readonly HmacSecret[]
	/**
	 * What the user has beside its id (`{ roles: ['editor'] }`), or another id than the key's. Each request gets a
	 * user of its own, but not what is within: that is shared. @default {}
	 */
	readonly user?: Readonly<Record<string, unknown>>
}

export type DeclaredKey = HmacSecret | readonly HmacSecret[] | HmacKey

/**
 * Finds a key by its id; nothing for an id that isn't known. It is asked before the signature can be verified: the
 * id is whatever printable ASCII a client has sent.
 */
export type FindKey = (
	keyid: string,
) => DeclaredKey | null | undefined | Promise<DeclaredKey | null | undefined>

/** Keys by id: an object or a Map, which is read once, or a function, for keys that come and go. */
export type HmacKeys = Readonly<Record<string, DeclaredKey>> | ReadonlyMap<string, DeclaredKey> | FindKey

export interface CompiledKey {
	readonly secrets: readonly KeyObject[]
	readonly user: Readonly<Record<string, unknown>>
}

/** Answers at once where all keys are known. */
export type KeyFinder = (keyid: string) => CompiledKey | undefined | Promise<CompiledKey | undefined>

const SHORTEST = 32
/** What has an authenticator made for each request shall not have its keys read for each. */
const FINDERS = new WeakMap<object, KeyFinder>()
/** What an unknown key's signature is compared with, so that it takes as long to be refused as a known one's. */
const NOBODYS: readonly KeyObject[] = [createSecretKey(randomBytes(SHORTEST))]

/** @throws TypeError, or RangeError for a secret that is too short, naming the key */
export function finderOf(keys: HmacKeys): KeyFinder {
	if (typeof keys === 'function') return (keyid) => foundBy(keys, keyid)
	if (typeof keys !== 'object' || keys === null) {
		throw new TypeError('keys must be an object or a Map of secrets by key id, or a function that finds them')
	}
	let finder = FINDERS.get(keys)
	if (finder === undefined) {
		const compiled = compiledKeys(keys)
		finder = (keyid) => compiled.get(keyid)
		FINDERS.set(keys, finder)
	}
	return finder
}

/** Whether one of the key's secrets has signed the text. Takes the same time for any signature, also without a key. */
export function isSignedBy(key: CompiledKey | undefined, text: string, signature: Uint8Array): boolean {
	let isGood = false
	for (const secret of key?.secrets ?? NOBODYS) {
		const expected = createHmac('sha256', secret).update(text).digest()
		if (signature.length === expected.length && timingSafeEqual(signature, expected)) isGood = true
	}
	return isGood && key !== undefined
}

function foundBy(find: FindKey, keyid: string): CompiledKey | undefined | Promise<CompiledKey | undefined> {
	const found = find(keyid)
	if (found instanceof Promise)
		return found.then((key) => (key == null ? undefined : compiledKey(keyid, key)))
	return found == null ? undefined : compiledKey(keyid, found)
}

function compiledKeys(keys: object): ReadonlyMap<string, CompiledKey> {
	const entries: [unknown, unknown][] = keys instanceof Map ? [...keys] : Object.entries(plain(keys))
	if (entries.length === 0) throw new TypeError('keys has no key: nobody could be let in')
	return new Map(
		entries.map(([keyid, key]) => {
			if (typeof keyid !== 'string' || !/^[\x20-\x7e]+$/.test(keyid))
				throw new TypeError(`keys: ${JSON.stringify(keyid)} is no key id: printable ASCII is`)
			return [keyid, compiledKey(keyid, key)]
		}),
	)
}

/** `{ __proto__: … }` sets a prototype instead of naming a key, which would be lost without a word. */
function plain(keys: object): object {
	const prototype: unknown = Object.getPrototypeOf(keys)
	if (prototype === null || prototype === Object.prototype) return keys
	throw new TypeError('keys must be a plain object, a Map, or a function')
}

function compiledKey(keyid: string, declared: unknown): CompiledKey {
	if (typeof declared === 'string' || declared instanceof Uint8Array || Array.isArray(declared))
		return { secrets: secretsOf(keyid, declared), user: {} }
	if (typeof declared !== 'object' || declared === null || !('secret' in declared)) {
		throw new TypeError(`key ${JSON.stringify(keyid)} must be a secret, a list of them, or { secret, user }`)
	}
	const { secret, ...rest } = declared
	const { user = {}, ...others } = rest as { user?: unknown }
	const [other] = Object.keys(others)
	if (other !== undefined)
		throw new TypeError(
			`key ${JSON.stringify(keyid)} has '${other}', which means nothing: secret and user do`,
		)
	if (typeof user !== 'object' || user === null || ('id' in user && typeof user.id !== 'string'))
		throw new TypeError(
			`the user of key ${JSON.stringify(keyid)} must be an object, its id text if it has one`,
		)
	return { secrets: secretsOf(keyid, secret), user: { ...user } }
}

function secretsOf(keyid: string, declared: unknown): KeyObject[] {
	const secrets: readonly unknown[] = Array.isArray(declared) ? declared : [declared]
	if (secrets.length === 0) throw new TypeError(`key ${JSON.stringify(keyid)} has no secret`)
	return secrets.map((secret) => createSecretKey(bytesOf(keyid, secret)))
}

function bytesOf(keyid: string, secret: unknown): Uint8Array {
	const bytes = typeof secret === 'string' ? decodeBase64(secret) : secret
	if (!(bytes instanceof Uint8Array)) {
		throw new TypeError(
			`the secret of key ${JSON.stringify(keyid)} must be bytes, or base64 text with its padding: \`openssl rand -base64 32\` prints one`,
		)
	}
	if (bytes.length >= SHORTEST) return bytes
	throw new RangeError(
		`the secret of key ${JSON.stringify(keyid)} must have at least ${SHORTEST} bytes, got ${bytes.length}`,
	)
}
