import { EventEmitter } from 'node:events'
import * as assert from 'uvu/assert'
import { UnsentAnswers } from '../../lib/exchange/unsent-answers.ts'
import { describe } from '../helpers/describe.ts'

/** What an answer counts besides its body. */
const OVERHEAD = 6_000

/** Answers of one server; `cut` has the names of those whose channel was cut off, in that order. */
class Wait {
	readonly unsent: UnsentAnswers
	readonly cut: string[] = []

	constructor(max: number) {
		this.unsent = new UnsentAnswers(max)
	}

	/** An answer of which so many bytes are unsent, overhead included. */
	add(name: string, address: string, bytes: number, channel = new EventEmitter()) {
		const count = this.unsent.counter(channel, { ip: () => address, cutOff: () => this.cut.push(name) })
		count(bytes - OVERHEAD)
		return { channel, count }
	}
}

describe('unsent answers', (test) => {
	test('nothing is cut off up to the bound', () => {
		const wait = new Wait(30_000)
		for (const name of ['a', 'b', 'c']) wait.add(name, '192.0.2.1', 10_000)
		assert.is(wait.unsent.bytes, 30_000)
		assert.equal(wait.cut, [])
	})

	test('above it the caller with the most bytes is cut off, longest waiting first', () => {
		const wait = new Wait(60_000)
		wait.add('honest', '192.0.2.1', 20_000)
		wait.add('greedy 1', '192.0.2.2', 10_000)
		wait.add('greedy 2', '192.0.2.2', 10_000)
		wait.add('greedy 3', '192.0.2.2', 10_000)
		assert.equal(wait.cut, [])
		wait.add('new', '192.0.2.3', 20_000)
		assert.equal(wait.cut, ['greedy 1'])
		assert.is(wait.unsent.bytes, 60_000)
	})

	test('as many are cut off as need be', () => {
		const wait = new Wait(60_000)
		for (let at = 1; at <= 6; at++) wait.add(String(at), '192.0.2.1', 10_000)
		wait.add('large', '192.0.2.2', 25_000)
		assert.equal(wait.cut, ['1', '2', '3'])
		assert.is(wait.unsent.bytes, 55_000)
	})

	test('an answer above the bound is cut off', () => {
		const wait = new Wait(60_000)
		wait.add('small', '192.0.2.1', 10_000)
		wait.add('large', '192.0.2.2', 60_001)
		assert.equal(wait.cut, ['large'])
		assert.is(wait.unsent.bytes, 10_000)
	})

	test('all answers of a channel are cut off together, and count no longer', () => {
		const wait = new Wait(60_000)
		const channel = new EventEmitter()
		const first = wait.add('first', '192.0.2.1', 30_000, channel)
		wait.add('second', '192.0.2.1', 30_000, channel)
		wait.add('other', '192.0.2.2', 10_000)
		assert.equal(wait.cut, ['first'])
		assert.is(wait.unsent.bytes, 10_000)
		first.count(50_000)
		first.count(undefined)
		wait.add('third', '192.0.2.1', 60_000, channel)
		channel.emit('close')
		assert.equal(wait.cut, ['first'])
		assert.is(wait.unsent.bytes, 10_000)
	})

	test('answers that are sent, or whose channel is closed, count no longer', () => {
		const wait = new Wait(60_000)
		const sent = wait.add('sent', '192.0.2.1', 30_000)
		const closed = wait.add('closed', '192.0.2.1', 20_000)
		sent.count(undefined)
		assert.is(wait.unsent.bytes, 20_000)
		sent.count(undefined)
		assert.is(wait.unsent.bytes, 20_000)
		closed.channel.emit('close')
		assert.is(wait.unsent.bytes, 0)
		closed.count(undefined)
		assert.is(wait.unsent.bytes, 0)
		wait.add('next', '192.0.2.1', 60_000)
		assert.equal(wait.cut, [])
	})

	test('an answer on a channel that is already closed does not count', () => {
		const wait = new Wait(60_000)
		const channel = Object.assign(new EventEmitter(), { destroyed: true })
		wait.add('late', '192.0.2.1', 70_000, channel)
		assert.is(wait.unsent.bytes, 0)
		assert.equal(wait.cut, [])
	})

	test('the wait of a channel that was empty meanwhile starts anew, and belongs to the new address', () => {
		const wait = new Wait(50_000)
		const one = wait.add('one', '192.0.2.1', 20_000)
		wait.add('two', '192.0.2.2', 20_000)
		one.count(undefined)
		wait.add('one again', '192.0.2.2', 20_000, one.channel)
		wait.add('three', '192.0.2.1', 15_000)
		assert.equal(wait.cut, ['two'])
		wait.add('four', '192.0.2.2', 20_000)
		assert.equal(wait.cut, ['two', 'one again'])
	})

	test('a stream counts with what it has now', () => {
		const wait = new Wait(60_000)
		const stream = wait.add('stream', '192.0.2.1', 50_000)
		stream.count(20_000 - OVERHEAD)
		assert.is(wait.unsent.bytes, 20_000)
		wait.add('other', '192.0.2.2', 40_000)
		assert.equal(wait.cut, [])
		stream.count(50_000 - OVERHEAD)
		assert.equal(wait.cut, ['stream'])
	})

	test('an IPv6 /48 network is one caller', () => {
		const wait = new Wait(60_000)
		wait.add('honest', '2001:db8:1::1', 25_000)
		wait.add('site 1', '2001:db8:2:1::1', 15_000)
		wait.add('site 2', '2001:db8:2:2::1', 15_000)
		wait.add('new', '192.0.2.1', 10_000)
		assert.equal(wait.cut, ['site 1'])
	})

	test('without a bound nothing is cut off', () => {
		const wait = new Wait(Number.POSITIVE_INFINITY)
		wait.add('one', '192.0.2.1', Number.MAX_SAFE_INTEGER)
		wait.add('two', '192.0.2.1', Number.MAX_SAFE_INTEGER)
		assert.equal(wait.cut, [])
	})
})
