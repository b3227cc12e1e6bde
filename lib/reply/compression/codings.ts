/**
 * The content codings that node:zlib makes, each at a level that answers can be made at while somebody waits. Of JSON
 * lists of 1 to 116 kB brotli's 4 left 32 to 17 %, zstd's 3 and gzip's 6 one to three points more; brotli's 11, which is
 * node's default, takes some fifty times as long.
 */
import * as zlib from 'node:zlib'
import type { Bytes } from '../../base/time.ts'

/** A coding of `Content-Encoding` that answers can be compressed by. */
export type Encoding = 'br' | 'zstd' | 'gzip'

/** A stream of zlib: what has been written is read compressed. */
export interface Zip extends zlib.Gzip {}

/** One content coding. */
export interface Coding {
	readonly name: Encoding
	/** Compresses at once. */
	now(bytes: Uint8Array): Buffer
	/** Compresses in node's thread pool. */
	later(bytes: Uint8Array): Promise<Buffer>
	stream(): Zip
	/** Makes all that was written readable, and keeps what was learnt of it. */
	flush(zip: Zip, done: () => void): void
}

type Done = (error: Error | null, bytes: Buffer) => void

/** What node has from 22.15 and 23.8 on, at level 3; the types are those of the oldest node. */
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
	now: (bytes) => zlib.brotliCompressSync(bytes, brotliOptions(bytes.byteLength)),
	later: (bytes) => promised((done) => zlib.brotliCompress(bytes, brotliOptions(bytes.byteLength), done)),
	// Of its usual window it would take in more than a megabyte before there is anything to be sent.
	stream: () => zlib.createBrotliCompress({ params: { ...BROTLI_LEVEL, [BROTLI_PARAM_LGWIN]: 18 } }),
	flush: (zip, done) => zip.flush(BROTLI_OPERATION_FLUSH, done),
}

const GZIP: Coding = {
	name: 'gzip',
	now: (bytes) => zlib.gzipSync(bytes),
	later: (bytes) => promised((done) => zlib.gzip(bytes, done)),
	stream: () => zlib.createGzip(),
	// A full flush, which is the default, would forget what was written before.
	flush: (zip, done) => zip.flush(Z_SYNC_FLUSH, done),
}

/** All that this node has, by name; the one that leaves least comes first. */
export const CODINGS: ReadonlyMap<Encoding, Coding> = new Map(
	[BROTLI, ...zstdCodings(zlib), GZIP].map((coding) => [coding.name, coding]),
)

function zstdCodings(module: object): Coding[] {
	if (!hasZstd(module)) return []
	const coding: Coding = {
		name: 'zstd',
		now: (bytes) => module.zstdCompressSync(bytes),
		later: (bytes) => promised((done) => module.zstdCompress(bytes, done)),
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

function promised(begin: (done: Done) => void): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		begin((error, bytes) => (error === null ? resolve(bytes) : reject(error)))
	})
}
