/** The text of programs written by `verbena eject`; `eject.long.ts` runs them. */
import * as assert from 'uvu/assert'
import { ejected } from '../../lib/cli/eject.ts'
import { plansOf } from '../../lib/cli/handlers.ts'
import { MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

describe('an ejected program', (test) => {
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
