import { once } from 'node:events'
import { Readable } from 'node:stream'
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { CODINGS } from '../../../lib/reply/compression/codings.ts'
import { zipped } from '../../../lib/reply/compression/compress.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'

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

		test('an error of the source breaks it off, even before anyone listens', async () => {
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
