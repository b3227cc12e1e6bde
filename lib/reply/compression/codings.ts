/**
 * The content codings that this Node has: brotli, Zstandard and gzip, by zlib. For `negotiate.ts`, which chooses one.
 *
 * Levels are chosen for speed: a JSON list of 1 kB shrinks to 32 %, one of 116 kB to 17 %, at brotli's level 4; zstd's 3 and
 * gzip's 6 leave one to three points more. Brotli's 11, Node's default, takes about fifty times as long.
 */
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import type { Bytes } from '../../base/time.ts'

/** A coding of `Content-Encoding`. */
export type Encoding = 'br' | 'zstd' | 'gzip'

/** A compressing stream of zlib. */
interface Zip extends zlib.Gzip {}

export interface Coding {
	readonly name: Encoding
	compressSync(bytes: Uint8Array): Buffer
	/** Compresses in Node's thread pool. */
	compress(bytes: Uint8Array): Promise<Buffer>
	stream(): Zip
	/** Makes everything written so far readable, and keeps the dictionary. */
	flush(zip: Zip, done: () => void): void
}

/**
 * zlib's Zstandard functions (level 3), in Node from 22.15 and 23.8 on. Our `@types/node` lacks them: it is that of the
 * oldest supported Node.
 */
interface Zstd {
	zstdCompress(bytes: Uint8Array, done: (error: Error | null, bytes: Buffer) => void): void
	zstdCompressSync(bytes: Uint8Array): Buffer
	createZstdCompress(): Zip
}

const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants
const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants
const BROTLI_LEVEL = { [BROTLI_PARAM_QUALITY]: 4 }
/** `ZSTD_e_flush`. */
const ZSTD_FLUSH = 1

const brotliCompress = promisify(zlib.brotliCompress)

const BROTLI: Coding = {
	name: 'br',
	compressSync: (bytes) => zlib.brotliCompressSync(bytes, brotliOptions(bytes.byteLength)),
	compress: (bytes) => brotliCompress(bytes, brotliOptions(bytes.byteLength)),
	// With its default window, brotli would buffer more than a megabyte before sending anything.
	stream: () => zlib.createBrotliCompress({ params: { ...BROTLI_LEVEL, [BROTLI_PARAM_LGWIN]: 18 } }),
	flush: (zip, done) => zip.flush(BROTLI_OPERATION_FLUSH, done),
}

const GZIP: Coding = {
	name: 'gzip',
	compressSync: (bytes) => zlib.gzipSync(bytes),
	compress: promisify(zlib.gzip),
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
		compress: promisify(module.zstdCompress),
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
