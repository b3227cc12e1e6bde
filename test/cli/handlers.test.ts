/** The handlers of tables: their paths, what they allow, and which are left out. */
import * as assert from 'uvu/assert'
import { handlersOf, plansOf } from '../../lib/cli/handlers.ts'
import { createServer, MemoryModel, type Model } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

type Options = ConstructorParameters<typeof MemoryModel>[1]

function table(name: string, options: Partial<Options> = {}): MemoryModel {
	return new MemoryModel(name, { fields: { id: 'integer' }, key: 'id', ...options })
}

/** The paths of tables with some names, all of them on one server that describes itself. */
async function pathsOf(...names: string[]): Promise<string[]> {
	const tables = names.map((name): [string, MemoryModel] => [name, table('t')])
	const { plans } = await plansOf(new Map(tables), false)
	await createServer(handlersOf(plans), { openapi: true, explorer: true }).close()
	return plans.map(({ path }) => path)
}

describe('the paths of tables', (test) => {
	test('are their names, as far as these can stand in a URL', async () => {
		assert.equal(await pathsOf('a b', 'a_b', '..', '日本', '__proto__', 'constructor'), [
			...['a_b', 'a_b_2', '_', '日本', '__proto__', 'constructor'],
		])
	})

	test('leave the description and the explorer where they are', async () => {
		assert.equal(await pathsOf('openapi.json', ''), ['openapi.json_2', '_'])
	})
})

describe('tables that are served', (test) => {
	test('are read only, or written as far as their models allow', async () => {
		const open = async (isWritable: boolean, options: Partial<Options>) => {
			const model = table('note', { fields: { id: 'integer', text: 'text' }, ...options })
			const { plans } = await plansOf(new Map([['note', model]]), isWritable)
			return asking(handlersOf(plans))
		}
		const body = { text: 'a' }
		assert.is((await (await open(false, {})).ask('POST /note', { body })).status, 405)
		assert.is((await (await open(true, { readOnly: true })).ask('POST /note', { body })).status, 405)
		assert.is((await (await open(true, { key: [] })).ask('POST /note', { body })).status, 405)
		const { said } = await open(true, {})
		assert.is(await said('POST /note', { body }), '201 {"success":true,"data":{"id":1,"text":"a"}}')
		assert.is(
			await said('PATCH /note/1', { body: { text: 'b' } }),
			'200 {"success":true,"data":{"id":1,"text":"b"}}',
		)
		assert.match(await said('PATCH /note/1', { body: { id: 2 } }), /^422 /)
		assert.match(await said('POST /note', { body: [{ text: 'c' }, { text: 'd' }] }), /^201 .*"id":3/)
		assert.match(await said('DELETE /note?id[in]=1,2'), /^200 .*\[1,2\]/)
		assert.match(await said('DELETE /note/3'), /^200 /)
	})

	test('that cannot be read or have no columns are reported, and the others are served', async () => {
		const failing = table('failing')
		failing.list = async () => {
			throw new Error('the store refused', { cause: new Error('permission denied for table failing') })
		}
		const models = new Map<string, Model>([
			['failing', failing],
			['none', new MemoryModel('none', { fields: {}, key: [] })],
			['note', table('note')],
		])
		const { plans, refused } = await plansOf(models, false)
		assert.equal(
			plans.map(({ name }) => name),
			['note'],
		)
		assert.equal(refused, ['failing: permission denied for table failing', 'none: it has no columns'])
	})
})
