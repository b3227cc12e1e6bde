/** The option `compression` of `createServer`, and `Compression`, made of it once: which coding a response gets. */
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

/** The option `compression`: which answers are compressed, and by what. */
export interface CompressionOptions {
	/**
	 * Fewest bytes of an answer that is compressed; one whose length isn't known, a stream, always is. From 0 up.
	 * @default 1_024
	 */
	readonly threshold?: Bytes
	/**
	 * The codings, the first being preferred where a client takes several alike: `['gzip']`. `'zstd'` needs Node 22.15.
	 * @default `'br'`, `'zstd'` where Node has it, `'gzip'`
	 */
	readonly encodings?: readonly Encoding[]
}

const read = switchable('{ threshold: 1_024 }', {
	threshold: or(wholeNumber({ from: 0, unit: 'bytes' }), 1_024),
	encodings: or(codingsIn, [...CODINGS.values()]),
} satisfies Readers<CompressionOptions>)

/** Reads the option `compression`. */
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
	/** Fewest bytes that are compressed, where it is known how many there are. */
	readonly threshold: Bytes
	/** The best one first. */
	readonly codings: readonly Coding[]
	/** Most clients of a server say the same. */
	#lastHeader = ''
	#lastChoice: Coding | undefined = undefined

	constructor(threshold: Bytes, codings: readonly Coding[]) {
		this.threshold = threshold
		this.codings = codings
	}

	/**
	 * The coding for a request, by its `Accept-Encoding` (RFC 9110 §12.5.3): the one of the highest quality, of several
	 * the best. `undefined` where none is wanted as much as the answer as it is, and where nothing is said: "any" is
	 * allowed then, but who doesn't say so mostly can't read it.
	 */
	choose(header: string | undefined): Coding | undefined {
		if (header === undefined || header === '') return undefined
		if (header !== this.#lastHeader) {
			this.#lastChoice = this.#chosen(header)
			this.#lastHeader = header
		}
		return this.#lastChoice
	}

	#chosen(header: string): Coding | undefined {
		const qualities = qualitiesOf(header)
		const rest = qualities.get('*')
		let best: Coding | undefined
		// What isn't named is allowed, and wanted less than anything that is.
		let most = qualities.get('identity') ?? rest ?? 0
		for (const coding of this.codings) {
			const quality = qualities.get(coding.name) ?? qualities.get(`x-${coding.name}`) ?? rest ?? 0
			if (quality > most || (quality === most && quality > 0 && best === undefined)) {
				best = coding
				most = quality
			}
		}
		return best
	}
}
