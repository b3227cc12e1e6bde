/** The keys of `HmacAuthenticator`: checked, and compiled for `createHmac`. */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { attached } from '../../base/attached.ts'
import { isPlain } from '../../base/options.ts'
import { isThenable } from '../../base/thenable.ts'
import { decodeBase64 } from '../../wire/base64.ts'
import { MAX_NAME_LENGTH } from '../../wire/signature.ts'
import { frozenCopy } from '../authenticator.ts'

/**
 * At least 32 random bytes (RFC 2104 §3: secrets shorter than the hash weaken it), or base64 of them with padding, as
 * `openssl rand -base64 32` prints it.
 */
export type HmacSecret = string | Uint8Array

/** A key's secrets, and its user. */
export interface HmacKey {
	/** The secret; several during a key rotation: a signature by any of them is valid. */
	readonly secret: HmacSecret | readonly HmacSecret[]
	/**
	 * The user's other properties (`{ roles: ['editor'] }`); an `id` among them replaces the key's id. Each request gets
	 * its own user object, whose nested lists and objects are frozen copies. @default {}
	 */
	readonly user?: Readonly<Record<string, unknown>>
}

/** The secret of a key; several during a rotation; or secrets with their user. */
export type DeclaredKey = HmacSecret | readonly HmacSecret[] | HmacKey

/**
 * Finds a key by its id; returns null or undefined for an unknown id. Called before the signature is verified: a client
 * can send any id of 1 to 128 characters of printable ASCII. May return a promise, of any library.
 */
export type FindKey = (
	keyid: string,
) => DeclaredKey | null | undefined | PromiseLike<DeclaredKey | null | undefined>

/** Keys by id: an object or a Map, which is read once, or a function, if keys are added or removed later. */
export type HmacKeys = Readonly<Record<string, DeclaredKey>> | ReadonlyMap<string, DeclaredKey> | FindKey

export interface CompiledKey {
	readonly secrets: readonly KeyObject[]
	readonly user: Readonly<Record<string, unknown>>
}

/** Synchronous if all keys are declared. */
export type KeyFinder = (keyid: string) => CompiledKey | undefined | Promise<CompiledKey | undefined>

export const MIN_SECRET_BYTES = 32
/** Longer names are abbreviated in messages, because they may be secrets: base64 of 16 bytes is longer. */
const MAX_SHOWN_LENGTH = 20
/** Compiled keys, cached on the declared ones so that an authenticator created per request doesn't compile them again. */
const FINDER: unique symbol = Symbol('verbena.keys')

/** @throws TypeError for malformed keys, RangeError for a secret that is too short; the message names the key */
export function finderOf(where: string, keys: unknown): KeyFinder {
	if (typeof keys === 'function') return (keyid) => foundBy(keys as FindKey, keyid) // `foundBy` checks what it returns
	if (typeof keys !== 'object' || keys === null) {
		throw new TypeError(
			`${where} must be an object or a Map of secrets by key id, or a function that finds them`,
		)
	}
	return attached(keys, FINDER, () => {
		const compiled = compiledKeys(keys)
		return (keyid) => compiled.get(keyid)
	})
}

function foundBy(find: FindKey, keyid: string): CompiledKey | undefined | Promise<CompiledKey | undefined> {
	const found = find(keyid)
	if (!isThenable(found)) return found == null ? undefined : compiledKey(keyid, found)
	return Promise.resolve(found).then((key) => (key == null ? undefined : compiledKey(keyid, key)))
}

function compiledKeys(keys: object): ReadonlyMap<string, CompiledKey> {
	// `{ __proto__: … }` sets the prototype instead of adding a key: the key would be lost silently.
	if (!(keys instanceof Map || isPlain(keys)))
		throw new TypeError('keys must be a plain object, a Map, or a function')
	const entries: [unknown, unknown][] = keys instanceof Map ? [...keys] : Object.entries(keys)
	if (entries.length === 0) throw new TypeError('keys is empty: nobody could authenticate')
	return new Map(
		entries.map(([keyid, key], at) => {
			// Only its type is shown: the value may be a secret's bytes.
			if (typeof keyid !== 'string')
				throw new TypeError(`entry ${at + 1} of keys must have text as its key id, got ${typeof keyid}`)
			if (!/^[\x20-\x7e]+$/.test(keyid) || keyid.length > MAX_NAME_LENGTH) {
				throw new TypeError(
					`keys: ${shown(keyid)} is not a key id: it must be 1 to ${MAX_NAME_LENGTH} characters of printable ASCII`,
				)
			}
			return [keyid, compiledKey(keyid, key)]
		}),
	)
}

function compiledKey(keyid: string, declared: unknown): CompiledKey {
	if (typeof declared === 'string' || declared instanceof Uint8Array || Array.isArray(declared))
		return { secrets: secretsOf(keyid, declared), user: {} }
	if (typeof declared !== 'object' || declared === null || !('secret' in declared)) {
		throw new TypeError(`key ${shown(keyid)} must be a secret, a list of them, or { secret, user }`)
	}
	const { secret, ...rest } = declared
	const { user = {}, ...others } = rest as { user?: unknown }
	const [other] = Object.keys(others)
	if (other !== undefined)
		throw new TypeError(`key ${shown(keyid)} has ${shown(other)}, but may have only secret and user`)
	if (!isUser(user))
		throw new TypeError(`the user of key ${shown(keyid)} must be an object, and its id text if present`)
	return { secrets: secretsOf(keyid, secret), user: frozenCopy({ ...user }) }
}

/** Excludes lists, Maps and Sets, whose items aren't fields of a user. */
function isUser(user: unknown): user is Readonly<Record<string, unknown>> {
	if (typeof user !== 'object' || user === null || Symbol.iterator in user) return false
	return !('id' in user) || typeof user.id === 'string'
}

/** A name for an error message. A long one is abbreviated, because it may be a secret, put where the key's id belongs. */
function shown(name: string): string {
	return JSON.stringify(name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, 6)}…` : name)
}

function secretsOf(keyid: string, declared: unknown): KeyObject[] {
	const secrets: readonly unknown[] = Array.isArray(declared) ? declared : [declared]
	if (secrets.length === 0) throw new TypeError(`key ${shown(keyid)} has no secret`)
	return secrets.map((secret) => createSecretKey(bytesOf(keyid, secret)))
}

function bytesOf(keyid: string, secret: unknown): Uint8Array {
	const bytes = typeof secret === 'string' ? decodeBase64(secret) : secret
	if (!(bytes instanceof Uint8Array)) {
		throw new TypeError(
			`the secret of key ${shown(keyid)} must be bytes, or base64 text with its padding: \`openssl rand -base64 32\` prints one`,
		)
	}
	if (bytes.length >= MIN_SECRET_BYTES) return bytes
	throw new RangeError(
		`the secret of key ${shown(keyid)} must have at least ${MIN_SECRET_BYTES} bytes, got ${bytes.length}`,
	)
}
