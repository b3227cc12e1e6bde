import * as assert from 'uvu/assert'
import { decodeBase64, encodeBase64 } from '../../lib/wire/base64.ts'
import { describe } from '../helpers/describe.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

describe('base64', (test) => {
	for (const [text, bytes] of [
		['', []],
		['AA==', [0]],
		['/w==', [255]],
		['AAE=', [0, 1]],
		['AAEC', [0, 1, 2]],
		['+/+/', [251, 255, 191]],
	] as const) {
		test(`${text} is ${bytes}, and back`, () => {
			assert.equal([...(decodeBase64(text) ?? [])], bytes)
			assert.is(encodeBase64(Uint8Array.from(bytes)), text)
		})
	}

	test('bytes of any length round-trip', () => {
		for (let length = 0; length < 100; length++) {
			const bytes = Uint8Array.from({ length }, (_, at) => (at * 97 + length) % 256)
			assert.is(encodeBase64(bytes), Buffer.from(bytes).toString('base64'))
			assert.equal(decodeBase64(encodeBase64(bytes)), bytes)
		}
	})

	for (const text of [
		'A',
		'AA',
		'AAA',
		'AA=',
		'A===',
		'====',
		'AA==AA==',
		'AA\n=',
		' AA=',
		'AA-_',
		'AAé=',
		'AAA\u0141',
	]) {
		test(`${JSON.stringify(text)} is refused`, () => assert.is(decodeBase64(text), undefined))
	}

	test('of the characters that decode to the same byte, only one is accepted', () => {
		const taken = [...ALPHABET].filter((last) => decodeBase64(`A${last}==`)?.[0] === 0)
		assert.equal(taken, ['A'])
		assert.equal([...ALPHABET].filter((last) => decodeBase64(`AA${last}=`) !== undefined).length, 16)
	})
})
