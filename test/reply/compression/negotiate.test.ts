import * as assert from 'uvu/assert'
import { createServer, type ServerOptions } from '../../../lib/index.ts'
import { CODINGS } from '../../../lib/reply/compression/codings.ts'
import {
	Compression,
	type CompressionOptions,
	compressionOption,
} from '../../../lib/reply/compression/negotiate.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

const HAS_ZSTD = CODINGS.has('zstd')

function named(...names: readonly ('br' | 'gzip')[]): Compression {
	return compressionOption('compression', { encodings: names }) ?? new Compression(0, [])
}

describe('compression: which coding', (test) => {
	const table: [header: string | undefined, chosen: string | undefined][] = [
		[undefined, undefined],
		['', undefined],
		['gzip', 'gzip'],
		['x-gzip', 'gzip'],
		['GZIP', 'gzip'],
		['gzip, deflate, br', 'br'],
		['br;q=0.5, gzip;q=0.8', 'gzip'],
		['br;q=0.8;foo=1, gzip;q=0.8', 'br'],
		['br;q=0, gzip', 'gzip'],
		['br;q=0, gzip;q=0.000', undefined],
		['*', 'br'],
		['*;q=0', undefined],
		['gzip, *;q=0', 'gzip'],
		['gzip;q=0.1, *', 'br'],
		['br;q=0, *', 'gzip'],
		['identity', undefined],
		['identity, gzip;q=0.5', undefined],
		['identity;q=0.5, gzip;q=0.5', 'gzip'],
		['identity;q=0.5, gzip', 'gzip'],
		['identity;q=0', undefined],
		['identity;q=0, gzip;q=0.001', 'gzip'],
		['identity, *;q=0.5', undefined],
		['deflate, compress', undefined],
		['gzip;q=2', undefined],
		['gzip;q=x', undefined],
		['gzip;q=-1', undefined],
		[' gzip ; q=0.5 ', 'gzip'],
		[', ,gzip,', 'gzip'],
		['gzipped, brotli', undefined],
	]
	for (const [header, chosen] of table) {
		test(`of br and gzip ${JSON.stringify(header)} gets ${chosen ?? 'neither'}`, () => {
			assert.is(named('br', 'gzip').choose(header)?.name, chosen)
		})
	}

	test('the order of the list breaks ties', () => {
		assert.is(named('gzip', 'br').choose('br, gzip')?.name, 'gzip')
		assert.is(named('gzip', 'br').choose('br, gzip;q=0.9')?.name, 'br')
		assert.is(named('gzip').choose('br')?.name, undefined)
	})

	test('the choice for one header is not reused for another', () => {
		const compression = named('br', 'gzip')
		const chosen = ['gzip', 'br', 'gzip', 'gzip', 'identity', 'br'].map(
			(header) => compression.choose(header)?.name,
		)
		assert.equal(chosen, ['gzip', 'br', 'gzip', 'gzip', undefined, 'br'])
	})
})

describe('compression: the option', (test) => {
	test('is off by default, and true enables all codings of this Node version', () => {
		assert.is(compressionOption('compression', undefined), undefined)
		assert.is(compressionOption('compression', false), undefined)
		const { threshold, codings } = compressionOption('compression', true) ?? new Compression(0, [])
		assert.is(threshold, 1_024)
		assert.equal(
			codings.map(({ name }) => name),
			HAS_ZSTD ? ['br', 'zstd', 'gzip'] : ['br', 'gzip'],
		)
	})

	const WRONG: [option: unknown, message: string][] = [
		['gzip', 'compression must be true, false or an object: { threshold: 1_024 }, got "gzip"'],
		[null, 'got null'],
		[['br'], 'got an array'],
		[{ treshold: 1 }, 'compression has no option treshold: did you mean threshold?'],
		[{ threshold: -1 }, 'compression.threshold must be a whole number of bytes from 0 up, got -1'],
		[{ threshold: 0.5 }, 'got 0.5'],
		[{ threshold: '1kb' }, 'compression.threshold must be a whole number of bytes from 0 up, got "1kb"'],
		[{ encodings: 'br' }, `compression.encodings must be a list: ['br', 'gzip'], got "br"`],
		[{ encodings: [] }, 'got an empty array'],
		[{ encodings: ['br', 'br'] }, `compression.encodings names 'br' twice`],
		[
			{ encodings: ['br', 'deflate'] },
			`compression.encodings[1] must be 'br', 'zstd' or 'gzip', got "deflate"`,
		],
		[{ encodings: [1] }, 'compression.encodings[0] must be'],
	]
	for (const [option, message] of WRONG) {
		test(`${JSON.stringify(option)} is refused: ${message}`, () => {
			let error: unknown
			try {
				// Most users write JavaScript.
				createServer({}, { compression: option } as ServerOptions)
			} catch (thrown) {
				error = thrown
			}
			assert.ok(error instanceof TypeError || error instanceof RangeError, String(error))
			assert.ok(error.message.includes(message), error.message)
		})
	}

	test('zstd is served, or refused where Node lacks it', () => {
		const option: CompressionOptions = { encodings: ['zstd'] }
		if (HAS_ZSTD) assert.is(compressionOption('compression', option)?.choose('gzip, zstd')?.name, 'zstd')
		else
			assert.match(
				messageOf(() => compressionOption('compression', option)),
				"compression.encodings[0] is 'zstd', which Node has from",
			)
	})
})
