/**
 * The option `compression`, and the choice of a reply's coding. Levels are chosen for speed: JSON lists of 1 to 116 kB
 * shrink to 32 to 17 % at brotli's level 4, to one to three points more at zstd's 3 and gzip's 6. Brotli's 11, Node's
 * default, takes about fifty times as long.
 */
import * as zlib from 'node:zlib'
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

/** A coding of `Content-Encoding`. */
export type Encoding = 'br' | 'zstd' | 'gzip'

/** A compressing stream of zlib. */
interface Zip extends zlib.Gzip {}

/** One content coding. */
export interface Coding {
	readonly name: Encoding
	compressSync(bytes: Uint8Array): Buffer
	/** Compresses in Node's thread pool. */
	compress(bytes: Uint8Array): Promise<Buffer>
	stream(): Zip
	/** Makes everything written so far readable, and keeps the dictionary. */
	flush(zip: Zip, done: () => void): void
}

type Done = (error: Error | null, bytes: Buffer) => void

/**
 * zlib's Zstandard functions (level 3), in Node from 22.15 and 23.8 on. Our `@types/node` lacks them: it is that of the
 * oldest supported Node.
 */
interface Zstd {
	zstdCompress(bytes: Uint8Array, done: Done): void
	zstdCompressSync(bytes: Uint8Array): Buffer
	createZstdCompress(): Zip
}

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants
const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants
const BROTLI_LEVEL = { [BROTLI_PARAM_QUALITY]: 4 }
/** `ZSTD_e_flush`. */
const ZSTD_FLUSH = 1

const BROTLI: Coding = {
	name: 'br',
	compressSync: (bytes) => zlib.brotliCompressSync(bytes, brotliOptions(bytes.byteLength)),
	compress: (bytes) => promisify((done) => zlib.brotliCompress(bytes, brotliOptions(bytes.byteLength), done)),
	// With its default window, brotli would buffer more than a megabyte before sending anything.
	stream: () => zlib.createBrotliCompress({ params: { ...BROTLI_LEVEL, [BROTLI_PARAM_LGWIN]: 18 } }),
	flush: (zip, done) => zip.flush(BROTLI_OPERATION_FLUSH, done),
}

const GZIP: Coding = {
	name: 'gzip',
	compressSync: (bytes) => zlib.gzipSync(bytes),
	compress: (bytes) => promisify((done) => zlib.gzip(bytes, done)),
	stream: () => zlib.createGzip(),
	// A full flush, the default, would drop the dictionary.
	flush: (zip, done) => zip.flush(Z_SYNC_FLUSH, done),
}

/** The codings that this Node has, by name, the best compression first. */
export const CODINGS: ReadonlyMap<Encoding, Coding> = new Map(
	[BROTLI, ...zstdCodings(zlib), GZIP].map((coding) => [coding.name, coding]),
)

function zstdCodings(module: object): Coding[] {
	if (!hasZstd(module)) return []
	const coding: Coding = {
		name: 'zstd',
		compressSync: (bytes) => module.zstdCompressSync(bytes),
		compress: (bytes) => promisify((done) => module.zstdCompress(bytes, done)),
		stream: () => module.createZstdCompress(),
		flush: (zip, done) => zip.flush(ZSTD_FLUSH, done),
	}
	return [coding]
}

function hasZstd(module: object): module is Zstd {
	return 'zstdCompress' in module && 'zstdCompressSync' in module && 'createZstdCompress' in module
}

function brotliOptions(size: Bytes): zlib.BrotliOptions {
	return { params: { ...BROTLI_LEVEL, [BROTLI_PARAM_SIZE_HINT]: size } }
}

function promisify(begin: (done: Done) => void): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		begin((error, bytes) => (error === null ? resolve(bytes) : reject(error)))
	})
}

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
	/** Shorter replies are not compressed. */
	readonly threshold: Bytes
	/** The preferred one first. */
	readonly codings: readonly Coding[]
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
