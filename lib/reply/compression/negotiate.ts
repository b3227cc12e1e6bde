/**
 * Negotiates the coding of a reply by `Accept-Encoding` (RFC 9110 §12.5.3), and reads the option `compression`. For
 * `compress.ts`.
 */
import {
	listOf,
	or,
	type Reader,
	type Readers,
	refusal,
	switchable,
	wholeNumber,
} from '../../base/options.ts'
import type { Bytes } from '../../base/time.ts'
import { qualitiesOf } from '../../request/accept.ts'
import { CODINGS, type Coding, type Encoding } from './codings.ts'

/** The option `compression`: which replies are compressed, and how. */
export interface CompressionOptions {
	/**
	 * Replies of fewer bytes aren't compressed; streams, whose length is unknown, always are. From 0 up.
	 * @default 1_024
	 */
	readonly threshold?: Bytes
	/**
	 * The codings; the first is preferred if a client accepts several equally: `['gzip']`. `'zstd'` needs Node 22.15.
	 * @default `'br'`, `'zstd'` if Node has it, `'gzip'`
	 */
	readonly encodings?: readonly Encoding[]
}

const read = switchable('{ threshold: 1_024 }', {
	threshold: or(wholeNumber({ from: 0, unit: 'bytes' }), 1_024),
	encodings: or(codingsIn, [...CODINGS.values()]),
} satisfies Readers<CompressionOptions>)

export const compressionOption: Reader<Compression | undefined> = (where, value) => {
	const given = read(where, value)
	return given && new Compression(given.threshold, given.encodings)
}

function codingsIn(where: string, value: unknown): readonly Coding[] {
	const codings = listOf("a list: ['br', 'gzip']", coding)(where, value)
	const twice = codings.find((one, at) => codings.indexOf(one) !== at)
	if (twice !== undefined) throw new TypeError(`${where} names '${twice.name}' twice`)
	return codings
}

function coding(where: string, name: unknown): Coding {
	const known = [...CODINGS.values()].find((one) => one.name === name)
	if (known !== undefined) return known
	if (name !== 'zstd') throw refusal(where, "'br', 'zstd' or 'gzip'", name)
	throw new TypeError(`${where} is 'zstd', which Node has from 22.15 on, and ${process.version} hasn't`)
}

export class Compression {
	/** Shorter replies are not compressed. */
	readonly threshold: Bytes
	/** The preferred one first. */
	readonly codings: readonly Coding[]
	/** Bytes that are being compressed in Node's thread pool; written by `compress.ts`. */
	inPool: Bytes = 0
	/** Cached, because most clients send the same header. */
	#lastHeader = ''
	#lastChoice: Coding | undefined = undefined

	constructor(threshold: Bytes, codings: readonly Coding[]) {
		this.threshold = threshold
		this.codings = codings
	}

	/**
	 * The coding for a request's `Accept-Encoding` (RFC 9110 §12.5.3): the one with the highest quality, among equals the
	 * first of `codings`. `undefined` if the client prefers an uncompressed reply, or sends no header: any coding is then
	 * allowed, but such clients usually can't decode one.
	 */
	choose(header: string | undefined): Coding | undefined {
		if (header === undefined || header === '') return undefined
		if (header !== this.#lastHeader) {
			this.#lastChoice = this.#choose(header)
			this.#lastHeader = header
		}
		return this.#lastChoice
	}

	#choose(header: string): Coding | undefined {
		const qualities = qualitiesOf(header)
		const wildcard = qualities.get('*')
		let best: Coding | undefined
		// An uncompressed reply is allowed even if `identity` isn't named, but any named coding is preferred.
		let highest = qualities.get('identity') ?? wildcard ?? 0
		for (const coding of this.codings) {
			const quality = qualities.get(coding.name) ?? qualities.get(`x-${coding.name}`) ?? wildcard ?? 0
			if (quality > highest || (quality === highest && quality > 0 && best === undefined)) {
				best = coding
				highest = quality
			}
		}
		return best
	}
}
