/** The order of `MemoryModel`'s values, and binary search. */
import * as assert from 'uvu/assert'
import { comparisonOf, partitionPoint, type Stored } from '../../../lib/models/memory/stored.ts'
import type { FieldType } from '../../../lib/models/model.ts'
import { describe } from '../../helpers/describe.ts'

const ASCENDING: readonly (readonly [FieldType, readonly Stored[]])[] = [
	['boolean', [false, true]],
	['integer', [-10, -9, 0, 9, 10]],
	['bigint', [-(2n ** 63n), -1, 0, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]],
	['float', [-Infinity, -1.5, 0, 5e-324, 0.1, 1e300, Infinity, Number.NaN]],
	['decimal', ['-10.5', '9.5', '10', '10.25']],
	// By code point: U+1F680 has UTF-16 units below U+E000, but comes after it.
	[
		'text',
		[
			'',
			'\u0001',
			'A',
			'Z',
			'a',
			'aa',
			'b',
			'ž',
			'漢',
			'\ue000',
			'\uffff',
			'\u{10000}',
			'\u{1f680}',
			'\u{1f680}a',
		],
	],
	[
		'timestamp',
		['1969-12-31T23:59:59.999999Z', '2026-11-20T13:45:00.123001Z', '2026-11-20T13:45:00.123002Z'],
	],
	['time', ['09:59:59', '10:00:00', '10:00:00.05', '10:00:00.5']],
	['bytes', [new Uint8Array(0), Uint8Array.of(0), Uint8Array.of(0, 1), Uint8Array.of(1), Uint8Array.of(255)]],
]

describe('comparisonOf', (test) => {
	for (const [type, sorted] of ASCENDING) {
		test(`${type} values are in order, and equal only to themselves`, () => {
			const compare = comparisonOf(type)
			for (const [at, a] of sorted.entries()) {
				for (const [other, b] of sorted.entries()) {
					assert.is(Math.sign(compare(a, b)), Math.sign(at - other), `${String(a)} and ${String(b)}`)
				}
			}
		})
	}

	test('texts are in the order of their UTF-8 bytes', () => {
		const texts = ASCENDING.flatMap(([type, values]) => (type === 'text' ? values.map(String) : []))
		const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
		assert.equal(texts.toReversed().toSorted(comparisonOf('text')), byBytes)
	})

	test('-0 equals 0', () => assert.is(comparisonOf('float')(-0, 0), 0))
})

describe('partitionPoint', (test) => {
	test('finds the place of a key before, at, between and after others', () => {
		const keys = [10, 20, 30]
		assert.equal(
			[5, 10, 15, 30, 35].map((key) => partitionPoint(3, (at) => (keys[at] ?? 0) < key)),
			[0, 0, 1, 2, 3],
		)
		assert.is(
			partitionPoint(0, () => true),
			0,
		)
	})
})
