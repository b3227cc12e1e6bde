/** The text of programs written by `verbena eject`; `eject.long.ts` runs them. */
import * as assert from 'uvu/assert'
import { ejected } from '../../lib/cli/eject.ts'
import { plansOf } from '../../lib/cli/handlers.ts'
import { MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

describe('an ejected program', (test) => {
	test('declares each variable once, and connects to a Unix socket', async () => {
		const [one, two] = ['one', 'two'].map(
			(name) => new MemoryModel(name, { fields: { id: 'integer' }, key: 'id' }),
		)
		assert.ok(one && two)
		const link = new MemoryModel('link', {
			fields: { a: 'integer', b: 'integer' },
			key: ['a', 'b'],
			references: [
				{ field: 'a', model: one },
				{ field: 'b', model: two },
			],
		})
		const other = new MemoryModel('_link_model', { fields: { id: 'integer' }, key: 'id' })
		const { plans } = await plansOf(
			new Map([
				['_link_model', other],
				['link', link],
				['one', one],
				['two', two],
			]),
			false,
		)
		const address = 'postgres://me@localhost/db?host=%2Fvar%2Frun&sslmode=disable'
		const program = ejected(plans, {
			...{ place: 'PostgreSQL', connecting: { driver: 'postgres', address } },
			...{ open: async () => ({}), close: async () => {} },
		})
		const declared = [...program.matchAll(/^const (\w+)\b/gm)].map(([, name]) => name)
		assert.equal(
			declared.filter((name) => name !== 'sql' && name !== 'server'),
			['link2Model', 'linkModel', 'link2', 'one', 'two'],
		)
		const [, connected = ''] = /^const sql = (.*)$/m.exec(program) ?? []
		const calls = new Function('process', 'postgres', `return ${connected}`)
		const called = (env: object): unknown[] => calls({ env }, (...args: unknown[]) => args)
		assert.equal(called({}), ['postgres://me@localhost/db?sslmode=disable', { host: '/var/run' }])
		assert.equal(called({ DATABASE_URL: 'postgres://me@there/db' }), ['postgres://me@there/db'])
	})

	test('mounts each table, whatever its name', async () => {
		const names = ['article', 'order_item', 'class', 'a b', '__proto__', 'constructor']
		const tables = names.map((name): [string, MemoryModel] => [
			name,
			new MemoryModel(name, { fields: { id: 'integer' }, key: 'id' }),
		])
		const { plans } = await plansOf(new Map(tables), false)
		const program = ejected(plans, {
			...{ place: 'a.db', connecting: { driver: 'libsql', address: 'a.db' } },
			...{ open: async () => ({}), close: async () => {} },
		})
		const [, mounted = ''] = /^\t(\{ article, .* \}),$/m.exec(program) ?? []
		const variables = [...program.matchAll(/^const (\w+): CrudHandler/gm)].map(([, name = '']) => name)
		const handlers = new Function(...variables, `return ${mounted}`)(...variables)
		assert.equal(Object.entries(handlers), [
			...[
				['article', 'article'],
				['order_item', 'orderItem'],
				['class', 'classTable'],
			],
			...[
				['a_b', 'aB'],
				['__proto__', 'proto'],
				['constructor', 'constructor'],
			],
		])
	})
})
