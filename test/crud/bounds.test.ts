/** Limits on requests, and on the size of a response beside its records. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel, ModelError } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const LONG = 'x'.repeat(20_000)
const model = () =>
	new MemoryModel('note', {
		key: 'id',
		fields: { id: 'integer', text: 'text' },
		rows: [{ text: `${LONG}a` }, { text: `${LONG}b` }, { text: 'c' }],
	})

function notes(asked = model(), options: Partial<CrudOptions> = {}) {
	return asking({ notes: new CrudHandler(asked, { visible: 'all', searchable: ['text'], ...options }) })
}

describe('CRUD limits', (test) => {
	for (const op of ['contains', 'startsWith', 'endsWith'])
		test(`an operand of ${op} has at most 1,000 characters`, async () => {
			const { ask } = notes()
			const query = (length: number) => `/notes?text[${op}]=${'x'.repeat(length)}`
			assert.is((await ask(query(1_000))).status, 200)
			const { status, text } = await ask(query(1_001))
			assert.is(status, 400)
			assert.match(text(), /may look for at most 1000 characters/)
			const filter = JSON.stringify({ text: { [op]: 'x'.repeat(1_001) } })
			assert.is((await ask('QUERY /notes', { body: { filter: JSON.parse(filter) } })).status, 400)
		})

	test('a search word has at most 1,000 characters', async () => {
		const { ask } = notes()
		assert.is((await ask(`/notes?search=${'x'.repeat(1_000)}`)).status, 200)
		assert.is((await ask(`/notes?search=${'x'.repeat(1_001)}`)).status, 400)
	})

	const contains = (count: number): string =>
		JSON.stringify({ or: Array.from({ length: count }, (_, at) => ({ text: { contains: `z${at}` } })) })

	test('a request has at most maxTextTerms text searches, 10 by default', async () => {
		const { ask, said } = notes()
		assert.is((await ask(`/notes?filter=${contains(10)}`)).status, 200)
		const message = 'is one text comparison too many: at most 10 are allowed'
		const told = (place: string, words: string) =>
			`400 {"success":false,"error":"${place} ${words}","code":"bad_request","details":[{"field":"${place}","code":"max","message":"${words}"}]}`
		assert.is(await said(`/notes?filter=${contains(11)}`), told('filter.or.10.text.contains', message))
		const more = 'text[contains]=a&text[startsWith]=b&text[endsWith]=c'
		assert.is((await ask(`/notes?filter=${contains(7)}&${more}`)).status, 200)
		assert.is(await said(`/notes?${more}&filter=${contains(8)}`), told('filter.or.7.text.contains', message))
		const body = { filter: JSON.parse(contains(10)), text: { endsWith: 'c' } }
		assert.is(await said('QUERY /notes', { body }), told('text.endsWith', message))
		assert.is((await ask(`/notes?${'text[eq]=a&'.repeat(1)}text[gt]=b&filter=${contains(10)}`)).status, 200)
	})

	test('a list in a query has at most maxIn values, 100 by default', async () => {
		const numbers = (count: number): string => Array.from({ length: count }, (_, at) => at).join()
		const repeated = (count: number): string => numbers(count).replace(/,?(\d+)/g, 'id=$1&')
		for (const [options, most] of [
			[{}, 100],
			[{ maxIn: 2 }, 2],
			[{ maxIn: 1_000 }, 1_000],
			[{ maxIn: 1 }, 1],
		] as const) {
			const { ask } = notes(model(), options)
			// A URL has at most a thousand parameters.
			const listed = (count: number): string => `id[nin]=${numbers(count)}`
			for (const query of most < 1_000 ? [listed, repeated] : [listed]) {
				assert.is((await ask(`/notes?${query(most)}`)).status, 200)
				const { status, text } = await ask(`/notes?${query(most + 1)}`)
				assert.is(status, 400)
				assert.match(text(), `may have at most ${most} values`)
			}
			const body = (count: number) => ({ body: { id: { in: numbers(count).split(',').map(Number) } } })
			assert.is((await ask('QUERY /notes', body(most))).status, 200)
			assert.is((await ask('QUERY /notes', body(most + 1))).status, 400)
			assert.is((await ask('/notes?id[between]=1,2')).status, 200)
		}
	})

	test('each search word counts once per searchable field', async () => {
		const fields = { id: 'integer', a: 'text', b: 'text', c: 'text' } as const
		const three = new MemoryModel('three', { key: 'id', fields, rows: [{ a: 'x', b: 'y', c: 'z' }] })
		const { ask, said } = notes(three, { searchable: ['a', 'b', 'c'] })
		assert.is((await ask('/notes?search=x+y+z')).status, 200)
		assert.match(
			await said('/notes?search=x+y+z+w'),
			/^400 .*search compares each word with 3 fields, which is one text comparison too many: at most 10 are allowed/,
		)
		assert.is((await ask('/notes?search=x+y+z&a[contains]=x')).status, 200)
		assert.is((await ask('/notes?search=x+y+z&a[contains]=x&b[contains]=y')).status, 400)
		const more = notes(three, { searchable: ['a', 'b', 'c'], maxTextTerms: 12 })
		assert.is((await more.ask('/notes?search=x+y+z+w')).status, 200)
	})

	test('an operand of eq may be as long as a value', async () => {
		const { said } = notes()
		const found = await said('QUERY /notes?fields=id', { body: { text: `${LONG}a` } })
		assert.match(found, /"data":\[\{"id":1\}\]/)
	})

	test('a cursor too long for a header is sent in meta alone, and followed by QUERY', async () => {
		const { ask } = notes()
		const first = await ask('/notes?sort=-text&limit=2&fields=id')
		assert.is(first.headers.link, undefined)
		const { meta } = JSON.parse(first.text()) as { meta: { next: string } }
		assert.ok(meta.next.length > 20_000)
		const body = { sort: '-text', limit: 2, fields: 'id', cursor: meta.next }
		assert.match((await ask('QUERY /notes', { body })).text(), /"data":\[\{"id":3\}\]/)
		assert.match(String((await ask('/notes?sort=id&limit=2')).headers.link), /rel="next"$/)
	})

	const REFUSED =
		'400 {"success":false,"error":"This page would have more than 30000 bytes: ask for fewer records with limit, or fewer fields with fields","code":"too_large","details":[{"field":"limit","code":"max","message":"is too high for records of this size"}]}'

	test('a page larger than maxPageBytes is 400, and the message says what to do', async () => {
		const { said, ask } = notes(model(), { maxPageBytes: 30_000 })
		assert.is(await said('/notes'), REFUSED)
		assert.is(await said('/notes?limit=2&count=exact'), REFUSED)
		assert.is((await ask('/notes?limit=1')).status, 200)
		assert.is((await ask('/notes?limit=2&offset=1')).status, 200)
		assert.is((await ask('/notes?fields=id')).status, 200)
		assert.is((await ask('/notes?limit=0')).status, 200)
	})

	test('maxPageBytes also applies to a store without a page limit, and to a page the store cannot build', async () => {
		const careless = model()
		const list = careless.list.bind(careless)
		careless.list = ({ maxBytes: _, ...query }) => list(query)
		const { said, ask } = notes(careless, { maxPageBytes: 30_000 })
		assert.is(await said('/notes'), REFUSED)
		assert.is((await ask('/notes?fields=id&sort=-text&limit=1')).status, 200)
		const short = notes(careless, { maxPageBytes: 19_000 })
		assert.match(await short.said('/notes?fields=id&sort=-text&limit=1'), /^400 .*"too_large"/)
		assert.is((await short.ask('/notes?fields=id&sort=-text&limit=3')).status, 200)
		const large = model()
		large.list = () => Promise.reject(new ModelError('too_large'))
		assert.is(await notes(large, { maxPageBytes: 30_000 }).said('/notes'), REFUSED)
	})

	test('maxPageBytes is 8 MiB by default, counted in UTF-8 bytes', async () => {
		const rows = Array.from({ length: 100 }, () => ({ text: '\u00e9'.repeat(45_000) }))
		const large = new MemoryModel('note', { key: 'id', fields: { id: 'integer', text: 'text' }, rows })
		const { ask } = notes(large)
		assert.is((await ask('/notes?limit=100')).status, 400)
		assert.is((await ask('/notes?limit=90')).status, 200)
	})
})
