import * as assert from 'uvu/assert'
import type { Condition, ListQuery } from '../../../lib/models/model.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { describe } from '../../helpers/describe.ts'
import { HeldDriver, stage } from './stage.ts'

const { database, driver, dialect, table } = stage(`
	create table item (id integer primary key, n int);
	insert into item values (1, 1), (2, 1), (3, 2)
`)

const QUERY: ListQuery = {
	...{
		selection: { fields: ['id'], names: ['id'], version: undefined },
		where: undefined,
		limit: 1,
		offset: 0,
	},
	...{ order: [{ field: 'id', descending: false }], after: undefined, total: false },
}

/** The pages, and how many lists each statement had. */
async function pagesOf(conditions: readonly Condition[], listsAtOnce = 100) {
	const held = new HeldDriver(driver)
	held.release(true)
	const own = Object.create(dialect, { listsAtOnce: { value: listsAtOnce } })
	const pages = await new SqlModel(table, held, own).listEach(QUERY, conditions)
	return { pages, lists: held.sent.map(({ text }) => text.split(' union all ').length) }
}

describe('listEach', (test) => {
	const eq = (value: number): Condition => ({ op: 'eq', field: 'n', value })

	test('asks for all pages by one statement', async () => {
		const { pages, lists } = await pagesOf([eq(2), eq(3), eq(1)])
		assert.equal(lists, [3])
		assert.equal(pages, [
			{ json: '[{"id":3}]', next: undefined, total: undefined },
			{ json: '[]', next: undefined, total: undefined },
			{ json: '[{"id":1}]', next: '["1"]', total: undefined },
		])
	})

	test('without conditions there is no statement', async () => {
		assert.equal(await pagesOf([]), { pages: [], lists: [] })
	})

	test('a statement has at most a hundred lists', async () => {
		const { pages, lists } = await pagesOf(Array.from({ length: 250 }, (_, at) => eq(at)))
		assert.equal(lists, [100, 100, 50])
		assert.equal(
			(
				await pagesOf(
					Array.from({ length: 12 }, (_, at) => eq(at)),
					5,
				)
			).lists,
			[5, 5, 2],
		)
		assert.equal(
			pages.slice(0, 4).map(({ json }) => json),
			['[]', '[{"id":1}]', '[{"id":3}]', '[]'],
		)
	})

	test('long conditions are divided among more statements', async () => {
		const values = Array.from({ length: 90 }, (_, at) => at)
		const terms = Array.from({ length: 42 }, (): Condition => ({ op: 'in', field: 'n', values }))
		const long: Condition = { op: 'and', terms }
		const { pages, lists } = await pagesOf([long, long, long])
		assert.equal(lists, [2, 1])
		assert.equal(
			pages.map(({ json }) => json),
			Array(3).fill('[{"id":1}]'),
		)
	})

	test.after(() => void database.close())
})
