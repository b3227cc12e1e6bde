/** How long what is asked, and what is answered beside the body, may be. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, ModelError } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const LONG = 'x'.repeat(20_000)
const model = () =>
	new MemoryModel('note', {
		key: 'id',
		fields: { id: 'integer', text: 'text' },
		rows: [{ text: `${LONG}a` }, { text: `${LONG}b` }, { text: 'c' }],
	})

function notes(asked = model()) {
	return asking({ notes: new CrudHandler(asked, { visible: 'all', searchable: ['text'] }) })
}

describe('bounds of CRUD', (test) => {
	for (const op of ['contains', 'startsWith', 'endsWith'])
		test(`a text that is looked for by ${op} has at most 1,000 characters`, async () => {
			const { ask } = notes()
			const query = (length: number) => `/notes?text[${op}]=${'x'.repeat(length)}`
			assert.is((await ask(query(1_000))).status, 200)
			const { status, text } = await ask(query(1_001))
			assert.is(status, 400)
			assert.match(text(), /may look for at most 1000 characters/)
			const filter = JSON.stringify({ text: { [op]: 'x'.repeat(1_001) } })
			assert.is((await ask('QUERY /notes', { body: { filter: JSON.parse(filter) } })).status, 400)
		})

	test('a word that is searched for too', async () => {
		const { ask } = notes()
		assert.is((await ask(`/notes?search=${'x'.repeat(1_000)}`)).status, 200)
		assert.is((await ask(`/notes?search=${'x'.repeat(1_001)}`)).status, 400)
	})

	test('what is equal may be as long as a value', async () => {
		const { said } = notes()
		const found = await said('QUERY /notes?fields=id', { body: { text: `${LONG}a` } })
		assert.match(found, /"data":\[\{"id":1\}\]/)
	})

	test('a cursor that is too long for a header is in meta alone, and goes on by QUERY', async () => {
		const { ask } = notes()
		const first = await ask('/notes?sort=-text&limit=2&fields=id')
		assert.is(first.headers.link, undefined)
		const { meta } = JSON.parse(first.text()) as { meta: { next: string } }
		assert.ok(meta.next.length > 20_000)
		const body = { sort: '-text', limit: 2, fields: 'id', cursor: meta.next }
		assert.match((await ask('QUERY /notes', { body })).text(), /"data":\[\{"id":3\}\]/)
		assert.match(String((await ask('/notes?sort=id&limit=2')).headers.link), /rel="next"$/)
	})

	test('a page that its store can not put together is 400, and says what to do', async () => {
		const large = model()
		large.list = () => Promise.reject(new ModelError('too_large'))
		const { status, text } = await notes(large).ask('/notes')
		assert.is(status, 400)
		assert.match(text(), /ask for fewer records by limit/)
	})
})
