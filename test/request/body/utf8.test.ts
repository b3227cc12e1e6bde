import { constants } from 'node:buffer'
import * as assert from 'uvu/assert'
import { decodeUtf8 } from '../../../lib/request/body/utf8.ts'
import { describe } from '../../helpers/describe.ts'
import { milliseconds, refusalText } from './refusal.ts'

const LONG = 'a'.repeat(2_000)

describe('decode/utf8', (test) => {
	for (const text of [
		'',
		'plain',
		'é ü 漢字 🌱',
		'\uFFFD was sent',
		'\uFEFFmark',
		'a\0b',
		LONG,
		`${LONG}é`,
	]) {
		test(`${JSON.stringify(text).slice(-40)} is decoded as it is`, () => {
			assert.is(decodeUtf8(Buffer.from(text), 'The body'), text)
		})
	}

	const wrong: [string, Buffer, number][] = [
		['a lone continuation byte', Buffer.from([0x61, 0x80]), 1],
		['a wrong byte far behind', Buffer.concat([Buffer.from(LONG), Buffer.from([0xff])]), 2_000],
		['a cut sequence', Buffer.from([0x61, 0x62, 0xe2, 0x82]), 2],
		['an overlong slash', Buffer.from([0xc0, 0xaf]), 0],
		['a surrogate', Buffer.from([0x61, 0xed, 0xa0, 0x80]), 1],
		[
			'Latin-1 after a real U+FFFD and é',
			Buffer.concat([Buffer.from('é\uFFFDx\uFFFD'), Buffer.from([0xe9])]),
			9,
		],
	]
	for (const [name, bytes, offset] of wrong) {
		test(`${name} is refused with its place`, () => {
			assert.is(
				refusalText(() => decodeUtf8(bytes, 'The body')),
				`400 The body is not UTF-8 at byte ${offset}`,
			)
		})
	}

	test('bytes longer than a string can be are too large, not an internal error', () => {
		const bytes = { length: constants.MAX_STRING_LENGTH + 1 } as Buffer
		assert.is(
			refusalText(() => decodeUtf8(bytes, 'The body')),
			'413 The body is longer than text can be',
		)
	})

	test('the place of a wrong byte is found in linear time', () => {
		const bytes = Buffer.concat([Buffer.alloc(900_000, '\uFFFD'), Buffer.from([0xff])])
		assert.ok(milliseconds(() => refusalText(() => decodeUtf8(bytes, 'The body'))) < 1_000)
	})
})
