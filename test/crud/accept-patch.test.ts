/** The types of PATCH, and `Accept-Patch` (RFC 5789 §3.1). */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, RestHandler } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('PATCH of a record', (test) => {
	const served = (
		allow: readonly ('list' | 'read' | 'update' | 'updateMany')[],
		updatable: readonly string[] = ['text'],
	) => {
		const maybe = <T extends string>(type: T) => ({ type, nullable: true }) as const
		const model = new MemoryModel('note', {
			fields: { id: 'integer', text: maybe('text'), more: maybe('json') },
			key: 'id',
			rows: [{ id: 1, text: 'a' }],
		})
		class Other extends RestHandler {
			patch__default() {
				return this.getParams({ a: ['string'] })
			}
		}
		return asking({ note: new CrudHandler(model, { visible: 'all', updatable, allow }), other: new Other() })
	}

	test('takes a merge patch, in which null empties a field', async () => {
		const { ask } = served(['read', 'update'])
		const headers = { 'content-type': 'application/merge-patch+json' }
		const { status, json } = await ask('PATCH /note/1', { body: JSON.stringify({ text: null }), headers })
		assert.is(status, 200)
		assert.equal((json() as { data: unknown }).data, { id: 1, text: null, more: null })
	})

	test('OPTIONS and 415 name its types, where it is served', async () => {
		const types = 'application/json, application/merge-patch+json'
		const { ask } = served(['list', 'read', 'update'])
		assert.is((await ask('OPTIONS /note/1')).headers['accept-patch'], types)
		assert.is((await ask('OPTIONS /note')).headers['accept-patch'], undefined)
		assert.is((await ask('OPTIONS /other')).headers['accept-patch'], undefined)
		const wrong = { body: 'a', headers: { 'content-type': 'text/plain' } }
		const refused = await ask('PATCH /note/1', wrong)
		assert.equal([refused.status, refused.headers['accept-patch']], [415, types])
		assert.is((await ask('PATCH /other', wrong)).headers['accept-patch'], undefined)
		const readOnly = served(['list', 'read'])
		assert.is((await readOnly.ask('OPTIONS /note/1')).headers['accept-patch'], undefined)
	})

	test('a list takes updateMany as JSON: a merge patch would replace the list', async () => {
		const { ask } = served(['list', 'updateMany'])
		assert.is((await ask('OPTIONS /note')).headers['accept-patch'], 'application/json')
		const refused = await ask('PATCH /note', { body: 'a', headers: { 'content-type': 'text/plain' } })
		assert.equal([refused.status, refused.headers['accept-patch']], [415, 'application/json'])
	})

	test('a JSON column is replaced, not merged, so a merge patch is not offered', async () => {
		const { ask } = served(['read', 'update'], ['text', 'more'])
		assert.is((await ask('OPTIONS /note/1')).headers['accept-patch'], 'application/json')
	})
})
