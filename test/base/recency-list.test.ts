/** The list ordered by last use. */
import * as assert from 'uvu/assert'
import { type Linked, RecencyList } from '../../lib/base/recency-list.ts'
import { describe } from '../helpers/describe.ts'

interface Named extends Linked<Named> {
	readonly name: string
}

describe('RecencyList', (test) => {
	const table: readonly (readonly [
		what: string,
		act: (list: RecencyList<Named>, of: Of) => void,
		left: string,
	])[] = [
		['nothing', () => {}, 'abc'],
		['remove the oldest', (list, of) => list.remove(of('a')), 'bc'],
		['remove the middle', (list, of) => list.remove(of('b')), 'ac'],
		['remove the newest', (list, of) => list.remove(of('c')), 'ab'],
		['touch the oldest', (list, of) => list.touch(of('a')), 'bca'],
		['touch the middle', (list, of) => list.touch(of('b')), 'acb'],
		['touch the newest', (list, of) => list.touch(of('c')), 'abc'],
		['remove all', (list, of) => ['a', 'b', 'c'].map((name) => list.remove(of(name))), ''],
	]
	for (const [what, act, left] of table) {
		test(`${what}: ${left || 'none'} left, oldest first`, () => {
			const { list, of } = listOf('abc')
			act(list, of)
			assert.is(drained(list), left)
		})
	}

	test('an entry that was removed can be added again', () => {
		const { list, of } = listOf('ab')
		const again = of('a')
		list.remove(again)
		list.add(again)
		assert.is(drained(list), 'ba')
	})
})

type Of = (name: string) => Named

function listOf(names: string): { list: RecencyList<Named>; of: Of } {
	const list = new RecencyList<Named>()
	const entries = new Map<string, Named>()
	for (const name of names) {
		const entry = { name, older: undefined, newer: undefined }
		entries.set(name, entry)
		list.add(entry)
	}
	return {
		list,
		of(name) {
			const entry = entries.get(name)
			if (entry === undefined) throw new Error(`no entry ${name}`)
			return entry
		},
	}
}

function drained(list: RecencyList<Named>): string {
	let names = ''
	for (let oldest = list.oldest; oldest !== undefined; oldest = list.oldest) {
		names += oldest.name
		list.remove(oldest)
	}
	return names
}
