/** `ContentDigest`: a request's Content-Digest, parsed and compared with its body (RFC 9530). For `body.ts`. */
import { createHash, type Hash, hash, timingSafeEqual } from 'node:crypto'
import { isInnerList, parseDictionary } from '../wire/structured-fields.ts'

/** Accepted algorithms, by their name in the header (RFC 9530 §5): all others there are insecure. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
	['sha-256', { name: 'sha256', size: 32 }],
	['sha-512', { name: 'sha512', size: 64 }],
])

interface Algorithm {
	/** Its name in node:crypto. */
	readonly name: 'sha256' | 'sha512'
	/** The size of a digest, in bytes. */
	readonly size: number
}

interface Expected {
	readonly algorithm: Algorithm
	readonly bytes: Uint8Array
}

interface Hashing {
	update(bytes: Uint8Array): void
	matches(): boolean
}

/** The digests in a header that have a known algorithm: each must match. */
export class ContentDigest {
	readonly #all: readonly Expected[]

	/**
	 * Reads the header's value: `sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:`.
	 *
	 * @throws SyntaxError when it is malformed, RangeError when it has no digest by SHA-256 or SHA-512
	 */
	constructor(header: string) {
		const all: Expected[] = []
		for (const [name, member] of parseDictionary(header)) {
			const algorithm = ALGORITHMS.get(name)
			if (algorithm === undefined) continue
			if (
				isInnerList(member) ||
				member.value.type !== 'bytes' ||
				member.value.value.length !== algorithm.size
			)
				throw new RangeError(`Content-Digest has a malformed ${name}`)
			all.push({ algorithm, bytes: member.value.value })
		}
		if (all.length === 0) throw new RangeError('Content-Digest has neither sha-256 nor sha-512')
		this.#all = all
	}

	matches(body: Uint8Array): boolean {
		return this.#all.every(({ algorithm, bytes }) =>
			timingSafeEqual(hash(algorithm.name, body, 'buffer'), bytes),
		)
	}

	/** Compares a body that is read in chunks. */
	hashing(): Hashing {
		const hashes: readonly (readonly [Hash, Uint8Array])[] = this.#all.map(({ algorithm, bytes }) => [
			createHash(algorithm.name),
			bytes,
		])
		return {
			update(chunk) {
				for (const [hash] of hashes) hash.update(chunk)
			},
			matches: () => hashes.every(([hash, bytes]) => timingSafeEqual(hash.digest(), bytes)),
		}
	}
}
