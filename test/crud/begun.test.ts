/** Operations that a method starts and doesn't await: if one fails, the process survives, and the log names it. */
import { setTimeout as pause } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel, transaction } from '../../lib/index.ts'
import { type Asking, asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'

const OPTIONS: CrudOptions = {
	visible: 'all',
	updatable: ['title'],
	allow: ['list', 'read', 'create', 'update'],
}

class Notes extends CrudHandler {
	override customRoutes = { 'GET pair/%s/%s': 'pair' }

	async post_touch(id: string) {
		void this.update(id, { title: 'touched' })
		return 'ok'
	}

	async post_later(id: string) {
		void this.update(id, { title: 'touched' })
		await pause(150)
		return 'ok'
	}

	async pair(one: string, other: string) {
		const [first, second] = [this.read(one), this.read(other)]
		await pause(20)
		return [await first, await second]
	}

	async get_either(id: string) {
		return this.read(id).catch(() => 'none')
	}

	async get_all(id: string) {
		return (await Promise.allSettled([this.read(id), this.read('1')])).map(({ status }) => status)
	}

	get_within() {
		return { note: this.read('1') }
	}

	async post_thrown() {
		void transaction([this], async ([notes]) => {
			await notes.update('1', { title: 'never' })
			throw new Error('thrown in it')
		})
		return 'ok'
	}

	async post_inner() {
		return transaction([this], async ([notes]) => {
			void notes.update('9', { title: 'never' })
			return 'ok'
		})
	}
}

function opened(): Asking {
	const fields = { id: 'integer', title: 'text' } as const
	const model = new MemoryModel('note', { key: 'id', fields, rows: [{ id: 1, title: 'first' }] })
	return asking({ notes: new Notes(model, OPTIONS) })
}

const lines = ({ lines }: Asking) =>
	lines
		.filter(({ level }) => level === 'error')
		.map(({ message, fields }) => `${message}: ${String(fields.err)}`)

describe('crud: operations that are not awaited', (test) => {
	for (const action of ['touch/9', 'later/9']) {
		test(`one that fails is logged, with its name and the method's: POST ${action}`, async () => {
			const asked = opened()
			assert.is(await asked.said(`POST /notes/${action}`), ok('ok'))
			await until(() => lines(asked).length > 0, 'the error')
			assert.equal(lines(asked), [
				'Notes.update() has failed, and was not awaited: await it: RestError: Not Found',
			])
			assert.is(asked.lines.at(-1)?.fields.action, `post_${action.slice(0, -2)}`)
		})
	}

	test('one within a value is refused, as any promise there', async () => {
		const asked = opened()
		assert.match(await asked.said('/notes/within'), /^500 /)
		assert.match(lines(asked).join(), "data.note is a promise, which JSON can't hold: await it")
	})

	test('one that succeeds has its effect', async () => {
		const asked = opened()
		assert.is(await asked.said('POST /notes/touch/1'), ok('ok'))
		await until(async () => (await asked.said('/notes/1')) === ok({ id: 1, title: 'touched' }), 'the change')
		assert.equal(lines(asked), [])
	})

	test('one that is awaited late, or whose error is caught, is not logged', async () => {
		const asked = opened()
		assert.match(await asked.said('/notes/pair/9/8'), /^404 /)
		assert.is(await asked.said('/notes/either/9'), ok('none'))
		assert.is(await asked.said('/notes/all/9'), ok(['rejected', 'fulfilled']))
		await pause(150)
		// Of the pair, the second was never awaited.
		assert.equal(lines(asked), [
			'Notes.read() has failed, and was not awaited: await it: RestError: Not Found',
		])
	})

	test('transactions, and operations in one', async () => {
		const asked = opened()
		assert.is(await asked.said('POST /notes/thrown'), ok('ok'))
		await until(() => lines(asked).length > 0, 'the error')
		assert.is(await asked.said('POST /notes/inner'), ok('ok'))
		await until(() => lines(asked).length > 1, 'the second error')
		assert.equal(lines(asked), [
			'transaction() has failed, and was not awaited: await it: Error: thrown in it',
			'Notes.update() has failed, and was not awaited: await it: RestError: Not Found',
		])
		assert.is(await asked.said('/notes/1'), ok({ id: 1, title: 'first' }))
	})
})
