import { once } from 'node:events'
import { Readable } from 'node:stream'
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { CODINGS, type Coding } from '../../../lib/reply/compression/codings.ts'
import { removeSuffixes, suffixedTag, tagOf304, zipped } from '../../../lib/reply/compression/compress.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'

function coding(name: 'br' | 'gzip'): Coding {
	const found = CODINGS.get(name)
	assert.ok(found)
	return found
}

describe('compression: ETags', (test) => {
	test('a strong ETag differs for each coding, a weak one is shared', () => {
		assert.is(suffixedTag('"5"', coding('br')), '"5;br"')
		assert.is(suffixedTag('""', coding('gzip')), '";gzip"')
		assert.is(suffixedTag('W/"5"', coding('br')), 'W/"5"')
		assert.is(suffixedTag('5', coding('br')), '5')
	})

	const sent: [name: 'if-match' | 'if-none-match', value: string, seen: string][] = [
		['if-match', '"5;br"', '"5"'],
		['if-match', '"5"', '"5"'],
		['if-match', '"5;br", "6;gzip", "7;zstd"', '"5", "6", "7"'],
		['if-match', '*', '*'],
		['if-match', 'W/"5;br"', 'W/"5"'],
		['if-none-match', '"a-br","b;deflate"', '"a-br","b;deflate"'],
		['if-none-match', '";br"', '""'],
		['if-none-match', '"5;br', '"5;br'],
	]
	for (const [name, value, seen] of sent) {
		test(`${name}: ${value} is read as ${seen}`, () => {
			const headers = { [name]: value }
			removeSuffixes(headers)
			assert.equal(headers, { [name]: seen })
		})
	}

	test('If-Range keeps the coding: a range of other bytes would not fit', () => {
		const headers = { 'if-range': '"5;br"' }
		removeSuffixes(headers)
		assert.equal(headers, { 'if-range': '"5;br"' })
	})

	const named: [sent: string, chosen: 'br' | 'gzip' | undefined, tag: string][] = [
		['"5"', undefined, '"5"'],
		['"5"', 'br', '"5"'],
		['"5;br"', 'br', '"5;br"'],
		['"5;br"', 'gzip', '"5;br"'],
		['"5;br", "5;gzip"', 'gzip', '"5;gzip"'],
		['"5", "5;br"', undefined, '"5"'],
		['"5", "5;br"', 'br', '"5;br"'],
		['*', 'br', '"5"'],
		['"5;zstd"', 'br', '"5;zstd"'],
		['"15;br"', 'br', '"5"'],
	]
	for (const [sent, chosen, tag] of named) {
		test(`a 304 for ${sent}, where ${chosen ?? 'none'} is accepted, has ${tag}`, () => {
			assert.is(tagOf304('"5"', sent, chosen === undefined ? undefined : coding(chosen)), tag)
		})
	}
})

const KINDS = [
	{ name: 'br', whole: brotliDecompressSync, stream: createBrotliDecompress },
	{ name: 'gzip', whole: gunzipSync, stream: createGunzip },
] as const

async function bytesOf(source: Readable): Promise<Buffer> {
	const pieces: Buffer[] = []
	for await (const piece of source) pieces.push(piece as Buffer)
	return Buffer.concat(pieces)
}

/** Whether zlib's own memory has been given back. */
function isReleased(zip: Readable): boolean {
	return zip.closed && Reflect.get(zip, '_handle') === null
}

for (const { name, whole, stream } of KINDS) {
	const coding = CODINGS.get(name)
	if (coding === undefined) throw new Error(`node has no ${name}`)

	describe(`compression: a stream by ${name}`, (test) => {
		test('round-trips unchanged', async () => {
			async function* pieces() {
				for (let at = 0; at < 5_000; at++) {
					yield `${at} häuser, `
					if (at % 1_000 === 0) await new Promise(setImmediate)
				}
			}
			let text = ''
			for await (const piece of pieces()) text += piece
			const zip = zipped(pieces(), coding)
			assert.is(whole(await bytesOf(zip)).toString(), text)
			await until(() => isReleased(zip), 'zlib is released')
			const bytes = Buffer.alloc(3_000_000, 'abcdefg')
			assert.equal(whole(await bytesOf(zipped(Readable.from([bytes], { objectMode: false }), coding))), bytes)
			assert.is(whole(await bytesOf(zipped(Readable.from([], { objectMode: false }), coding))).length, 0)
		})

		test('chunks available together are compressed together', async () => {
			async function* pieces() {
				for (let at = 0; at < 10_000; at++) yield 'the same again '
			}
			const zip = await bytesOf(zipped(pieces(), coding))
			// A flush for each would cost five bytes each.
			assert.ok(zip.length < 5_000, `${zip.length} bytes`)
		})

		test('a chunk can be read before the next is produced', async () => {
			const made: string[] = []
			let next: () => void = () => {}
			async function* pieces() {
				for (const piece of ['first', 'second', 'third']) {
					made.push(piece)
					yield piece
					await new Promise<void>((resolve) => {
						next = resolve
					})
				}
			}
			const plain = stream()
			const zip = zipped(pieces(), coding)
			zip.pipe(plain)
			for (const count of [1, 2, 3]) {
				const [piece] = (await once(plain, 'data')) as [Buffer]
				assert.is(piece.toString(), made.at(-1))
				assert.is(made.length, count)
				next()
			}
			await once(plain.resume(), 'end')
		})

		test('reads only as much as its reader consumes', async () => {
			let made = 0
			async function* pieces() {
				for (;;) {
					made++
					// What can't be compressed fills what it is read into.
					yield Buffer.from(crypto.getRandomValues(new Uint8Array(16_384))).toString('latin1')
				}
			}
			const zip = zipped(pieces(), coding)
			zip.pause()
			let before = -1
			await until(async () => {
				const isStill = before === made && made > 0
				before = made
				await new Promise((resolve) => setTimeout(resolve, 20))
				return isStill
			}, 'nothing more is made')
			assert.ok(made < 30, `${made} pieces were made for nobody`)
			zip.destroy()
			await until(() => isReleased(zip), 'zlib is released')
		})

		test('a reader that leaves closes the source, even before the first read', async () => {
			for (const hasBegun of [true, false]) {
				let closed = 0
				const source = {
					[Symbol.asyncIterator]: () => ({
						next: () => Promise.resolve({ done: false as const, value: 'a' }),
						return: () => {
							closed++
							return Promise.resolve({ done: true as const, value: undefined })
						},
					}),
				}
				const zip = zipped(source, coding)
				if (hasBegun) await once(zip, 'readable')
				zip.destroy()
				await until(() => closed === 1 && isReleased(zip), 'source and zlib are closed')
			}
		})

		test('an error of the source breaks it off, also when nobody listens yet', async () => {
			async function* pieces() {
				yield 'a'
				throw new Error('cursor lost')
			}
			const zip = zipped(pieces(), coding)
			await until(() => zip.errored !== null, 'the error has come')
			let message = ''
			try {
				await bytesOf(zip)
			} catch (error) {
				message = (error as Error).message
			}
			assert.is(message, 'cursor lost')
			await until(() => isReleased(zip), 'zlib is released')
		})
	})
}
