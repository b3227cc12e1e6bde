/** Keys, values and TTLs of entries: the refusals common to all caches, and their messages. */
import * as assert from 'uvu/assert'
import { checkKey, toMilliseconds, toText } from '../../lib/cache/entry.ts'
import { describe } from '../helpers/describe.ts'

type Words = readonly [found: unknown, message: string]

describe('cache entry: key', (test) => {
	test('any string is valid, the empty one too', () => {
		assert.not.throws(() => checkKey(''))
		assert.not.throws(() => checkKey('a'))
	})

	const table: Words[] = [
		[undefined, 'a cache key must be a string, got undefined'],
		[null, 'a cache key must be a string, got null'],
		[1, 'a cache key must be a string, got a number'],
		[Symbol('s'), 'a cache key must be a string, got a symbol'],
		[['a'], 'a cache key must be a string, got an object'],
	]
	for (const [key, message] of table) {
		test(`${String(key)} is refused: ${message}`, () => {
			assert.throws(
				() => checkKey(key),
				(error: unknown) => error instanceof TypeError && error.message === message,
			)
		})
	}
})

describe('cache entry: value', (test) => {
	const kept: readonly (readonly [value: unknown, text: string])[] = [
		[null, 'null'],
		['\ud800"', '"\\ud800\\""'],
		[-0, '0'],
		[new Date(0), '"1970-01-01T00:00:00.000Z"'],
		[{ a: undefined, b: () => 1, c: Number.NaN }, '{"c":null}'],
		[[undefined], '[null]'],
		[{}, '{}'],
		[Object.create(null), '{}'],
	]
	for (const [value, text] of kept) test(`is kept as ${text}`, () => assert.is(toText('k', value), text))

	const circle: unknown[] = []
	circle.push(circle)
	const refused: Words[] = [
		[undefined, 'got undefined'],
		[() => 1, 'got a function'],
		[Symbol('s'), 'got a symbol'],
		[1n, 'got a bigint (Do not know how to serialize a BigInt)'],
		[{ a: 1n }, 'got an object (Do not know how to serialize a BigInt)'],
		[circle, 'got an object (Converting circular structure to JSON)'],
		[new Map([['a', 1]]), 'got an object (Map)'],
		[new Set([1]), 'got an object (Set)'],
		[Promise.resolve(1), 'got an object (Promise)'],
		[/a/, 'got an object (RegExp)'],
		[Number.NaN, 'got NaN'],
		[Number.NEGATIVE_INFINITY, 'got -Infinity'],
	]
	for (const [value, got] of refused) {
		test(`that JSON cannot represent is refused, naming its key: ${got}`, () => {
			const message = `the value for 'user:1' can't be stored as JSON: ${got}`
			assert.throws(
				() => toText('user:1', value),
				(error: unknown) => error instanceof TypeError && error.message === message,
			)
		})
	}

	test('an error thrown by toJSON is kept as the cause', () => {
		const cause = new Error('no text')
		const value = {
			toJSON() {
				throw cause
			},
		}
		assert.throws(
			() => toText('k', value),
			(error: unknown) => error instanceof TypeError && error.cause === cause,
		)
	})

	test('toJSON may throw anything', () => {
		const value = {
			toJSON() {
				throw 'no text'
			},
		}
		assert.throws(() => toText('k', value), /got an object$/)
	})
})

describe('cache entry: time', (test) => {
	const table: readonly (readonly [seconds: number, milliseconds: number])[] = [
		[60, 60_000],
		[0.05, 50],
		[2.007, 2_007],
		[1.001, 1_001],
		[0.0011, 2],
		[1e-12, 1],
		[315_360_000, 315_360_000_000],
		[Number.MAX_VALUE, Number.POSITIVE_INFINITY],
	]
	for (const [seconds, milliseconds] of table) {
		test(`${seconds} s are ${milliseconds} ms`, () => assert.is(toMilliseconds(seconds), milliseconds))
	}

	const refused: Words[] = [
		[0, '0'],
		[-1, '-1'],
		[Number.NaN, 'NaN'],
		[Number.POSITIVE_INFINITY, 'Infinity'],
		['60', 'a string'],
		[undefined, 'undefined'],
	]
	for (const [seconds, got] of refused) {
		test(`${got} is refused`, () => {
			const message = `ttlSeconds must be a finite number above 0, got ${got}`
			assert.throws(
				() => toMilliseconds(seconds as number),
				(error: unknown) => error instanceof RangeError && error.message === message,
			)
		})
	}
})
