/** Declared limits: which are refused, and what the others compile to. */
import * as assert from 'uvu/assert'
import { KeyedMutex } from '../../lib/limits/counters.ts'
import { Guesses } from '../../lib/limits/guesses.ts'
import { callerOf, compileLimit, countersOf, keyOf, networksOf } from '../../lib/limits/rate-limit.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const WHERE = 'Blog.rateLimits["post_article"]'

function compile(value: unknown, name = 'post_article') {
	return compileLimit(WHERE, name, value, 'blog/api')
}

describe('limits/rate-limit', (test) => {
	test('has defaults', () => {
		assert.equal(compile({ limit: 10, windowSeconds: 60 }), {
			limit: 10,
			windowSeconds: 60,
			isSliding: false,
			failOpen: false,
			name: '"post_article"',
			policy: '"post_article";q=10;w=60',
			wider: [
				{ limit: 80, windowSeconds: 60 },
				{ limit: 640, windowSeconds: 60 },
			],
			guesses: new Guesses(),
			mutex: new KeyedMutex(),
			prefix: '["blog/api","post_article",',
		})
	})

	test('the limit for all unnamed methods is called default', () => {
		const { policy, prefix } = compile({ limit: 1, windowSeconds: 1, window: 'sliding', failOpen: true }, '*')
		assert.is(policy, '"default";q=1;w=1')
		assert.is(prefix, '["blog/api","*",')
	})

	test('a name beyond ASCII can be sent', () => {
		assert.is(compile({ limit: 1, windowSeconds: 1 }, 'get_žluť"\\').name, '"get__lu___"')
	})

	const refusals: readonly (readonly [value: unknown, message: string])[] = [
		[10, `${WHERE} must be an object: { limit: 10, windowSeconds: 60 }, got 10`],
		[null, `${WHERE} must be an object: { limit: 10, windowSeconds: 60 }, got null`],
		[[10, 60], `${WHERE} must be an object: { limit: 10, windowSeconds: 60 }, got an array`],
		[{}, `${WHERE}.limit must be a whole number from 1 to 999999999999999, got undefined`],
		[
			{ limit: 0, windowSeconds: 60 },
			`${WHERE}.limit must be a whole number from 1 to 999999999999999, got 0`,
		],
		[{ limit: 1.5 }, `${WHERE}.limit must be a whole number from 1 to 999999999999999, got 1.5`],
		[{ limit: '10' }, `${WHERE}.limit must be a whole number from 1 to 999999999999999, got "10"`],
		[{ limit: 10 }, `${WHERE}.windowSeconds must be a whole number from 1 to 2592000, got undefined`],
		[
			{ limit: 10, windowSeconds: 60_000_000 },
			`${WHERE}.windowSeconds must be a whole number from 1 to 2592000, got 60000000`,
		],
		[
			{ limit: 1_001, windowSeconds: 60, window: 'sliding' },
			`${WHERE}.limit must be a whole number from 1 to 1000, got 1001`,
		],
		[
			{ limit: 10, windowSeconds: 60, window: 'rolling' },
			`${WHERE}.window must be 'fixed' or 'sliding', got "rolling"`,
		],
		[{ limit: 10, windowSeconds: 60, failOpen: 1 }, `${WHERE}.failOpen must be true or false, got 1`],
		[{ limit: 10, window_seconds: 60 }, `${WHERE} has no option window_seconds: did you mean windowSeconds?`],
	]
	for (const [value, message] of refusals) {
		test(`refuses ${JSON.stringify(value)}`, () => {
			assert.is(
				messageOf(() => compile(value)),
				message,
			)
		})
	}

	test("no caller's key is a prefix of another's", () => {
		const limit = compile({ limit: 1, windowSeconds: 1 })
		const keyed = (id: string): string => keyOf(limit, callerOf({ id }, ''))
		const [ann, other] = [keyed('ann'), keyed('ann:end')]
		assert.is(ann, 'limit:ann:["blog/api","post_article","user:ann"]')
		assert.is(other, 'limit:ann%3Aend:["blog/api","post_article","user:ann:end"]')
		assert.not.ok(other.startsWith(ann))
		assert.is.not(other, keyed('ann.end'))
	})

	test('users are counted by id, others by network, and no id can pass for an address', () => {
		const idOf = (address: string): string => callerOf(null, address).id
		assert.is(callerOf({ id: '7' }, '192.0.2.1').id, 'user:7')
		assert.is(idOf('192.0.2.1'), 'address:192.0.2.1')
		assert.is(idOf('2001:db8::1'), idOf('2001:db8::2'))
		assert.is(callerOf({ id: 'address:192.0.2.1' }, '').id, 'user:address:192.0.2.1')
	})

	test('IPv6 addresses also count for their /56 and /48 networks, within the share of the latter', () => {
		const limit = compile({ limit: 5, windowSeconds: 60 })
		assert.equal(countersOf(limit, callerOf(null, '2001:db8:1:ab12::1')), [
			{
				key: 'address:2001%3Adb8%3A1/48:["blog/api","post_article","address:2001:db8:1:ab12"]',
				limit: 5,
				windowSeconds: 60,
			},
			{
				key: 'address:2001%3Adb8%3A1/48:["blog/api","post_article","address:2001:db8:1:ab00/56"]',
				limit: 40,
				windowSeconds: 60,
			},
			{
				key: 'address:2001%3Adb8%3A1/48:["blog/api","post_article","address:2001:db8:1/48"]',
				limit: 320,
				windowSeconds: 60,
			},
		])
		assert.is(countersOf(limit, callerOf(null, '192.0.2.1')).length, 1)
		assert.is(countersOf(limit, callerOf({ id: '7' }, '2001:db8::1')).length, 1)
	})
})

describe('limits/rate-limit: networks', (test) => {
	const cases: readonly (readonly [address: string, network: string])[] = [
		['192.0.2.1', '192.0.2.1'],
		['', ''],
		['not an address', 'not an address'],
		['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
		['2001:DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1'],
		['2001:db8:0:1::', '2001:db8:0:1'],
		['2001:db8::1', '2001:db8:0:0'],
		['2001:db8:1::2:3:4', '2001:db8:1:0'],
		['::1', '0:0:0:0'],
		['::', '0:0:0:0'],
		['::ffff:192.0.2.1', '192.0.2.1'],
		['::ffff:c000:201', '192.0.2.1'],
		['64:ff9b::192.0.2.1', '192.0.2.1'],
		['64:ff9b::c000:202', '192.0.2.2'],
		['64:ff9b:1::c000:202', '64:ff9b:1:0'],
		['1::192.0.2.1', '1:0:0:0'],
		['fe80::1%eth0', 'fe80:0:0:0'],
		['1:2:3:4:5:6:7::', '1:2:3:4'],
		['1::8', '1:0:0:0'],
		['::3:4:5:6:7:8', '0:0:3:4'],
	]
	for (const [address, network] of cases)
		test(`${address || 'nothing'} is in ${network || 'nothing'}`, () => {
			assert.is(networksOf(address).own, network)
		})

	const wider: readonly (readonly [address: string, networks: readonly [string, string] | undefined])[] = [
		['192.0.2.1', undefined],
		['::ffff:192.0.2.1', undefined],
		['64:ff9b::192.0.2.1', undefined],
		['', undefined],
		['2001:db8:1:ab12::1', ['2001:db8:1:ab00/56', '2001:db8:1/48']],
		['2001:db8:1:abff::1', ['2001:db8:1:ab00/56', '2001:db8:1/48']],
		['2001:db8:1:12::1', ['2001:db8:1:0/56', '2001:db8:1/48']],
		['::1', ['0:0:0:0/56', '0:0:0/48']],
	]
	for (const [address, networks] of wider)
		test(`${address || 'nothing'} is in the wider networks ${networks?.join(' and ') ?? 'none'}`, () => {
			assert.equal(networksOf(address).wider, networks)
		})
})
