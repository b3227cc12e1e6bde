/** Texts of statements that are kept: from the second asking on, as many as there is room for. */
import * as assert from 'uvu/assert'
import { type Kept, Room, roomOf } from '../../../lib/models/sql/room.ts'
import { type Step, Texts } from '../../../lib/models/sql/texts.ts'
import { describe } from '../../helpers/describe.ts'

/** Asks twice, as whoever wants a text to be kept. */
function keep(texts: Texts, steps: readonly Step[], text: string): void {
	texts.keep(steps, text)
	texts.keep(steps, text)
}

describe('sql/texts', (test) => {
	test('are found by the same steps only, none among them', () => {
		const texts = new Texts(new Room())
		keep(texts, ['a', 'b'], 'ab')
		keep(texts, [], 'none')
		assert.is(texts.get(['a', 'b']), 'ab')
		assert.is(texts.get([]), 'none')
		for (const steps of [['a'], ['b', 'a'], ['a', 'b', 'c'], ['ab']]) assert.is(texts.get(steps), undefined)
	})

	test('know symbols and numbers from names that are written alike', () => {
		const texts = new Texts(new Room())
		const step = Symbol('a')
		keep(texts, ['a'], 'name')
		keep(texts, [step], 'symbol')
		keep(texts, [1], 'number')
		assert.equal(
			[['a'], [step], [1], ['1'], [Symbol('a')]].map((steps) => texts.get(steps)),
			[...['name', 'symbol', 'number', undefined, undefined]],
		)
	})

	test('are kept from the second asking on', () => {
		const room = new Room()
		const texts = new Texts(room)
		for (let i = 0; i < 5_000; i++) texts.keep([`field${i}`], `text ${i}`)
		assert.is(room.bytes, 0)
		for (const known of [undefined, 'hot', 'hot']) {
			assert.is(texts.get(['hot']), known === undefined ? undefined : known)
			keep(texts, ['hot'], 'hot')
		}
	})

	test('leave when there is no room, those that were used longest ago first', () => {
		const room = new Room(100_000)
		const texts = [new Texts(room), new Texts(room)]
		const [first = new Texts(room), second = first] = texts
		keep(first, ['hot'], 'x'.repeat(1_000))
		for (let i = 0; i < 1_000; i++) {
			keep(second, ['field', i], 'y'.repeat(1_000))
			assert.is(first.get(['hot'])?.length, 1_000, String(i))
			assert.ok(room.bytes <= 100_000)
		}
		assert.is(second.get(['field', 0]), undefined)
		assert.is(second.get(['field', 999])?.length, 1_000)
		keep(second, ['field', 0], 'again')
		assert.is(second.get(['field', 0]), 'again')
	})

	test('that would take most of the room are not kept', () => {
		const room = new Room(100_000)
		const texts = new Texts(room)
		keep(texts, ['large'], 'x'.repeat(50_000))
		assert.is(texts.get(['large']), undefined)
		assert.is(room.bytes, 0)
	})
})

/** In no list. */
const NOWHERE = { older: undefined, newer: undefined }

describe('sql/room', (test) => {
	test('is one for a database', () => {
		const [one, other] = [{}, {}]
		assert.is(roomOf(one), roomOf(one))
		assert.is.not(roomOf(one), roomOf(other))
		assert.instance(roomOf(Object.freeze({})), Room)
	})

	test('drops what was used longest ago, once', () => {
		const room = new Room(160)
		const dropped: string[] = []
		const kept = (name: string): Kept => ({ bytes: 10, drop: () => dropped.push(name), ...NOWHERE })
		const all = Array.from({ length: 16 }, (_, at) => kept(`${at}`))
		for (const one of all) assert.ok(room.add(one))
		assert.is(room.bytes, 160)
		const [first] = all
		if (first !== undefined) room.touch(first)
		room.add(kept('a'))
		room.add(kept('b'))
		assert.equal(dropped, ['1', '2'])
		assert.is(room.bytes, 160)
		assert.not(room.add({ bytes: 11, drop: () => dropped.push('large'), ...NOWHERE }))
	})
})
