/** Violated database constraints over HTTP: the same response with each store, and nothing of the database in it. */
import { inspect } from 'node:util'
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../../lib/index.ts'
import { type Asking, asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { assertTellsNothing } from './answers.ts'
import { type Store, storesHere } from './stores.ts'

/** A request, and the expected status, code and fields. */
type Refusal = readonly [what: string, request: string, body: object | undefined, expected: string]

const REFUSALS: readonly Refusal[] = [
	['a value that another has', 'POST /article', { title: 'x', slug: 'first' }, '409 conflict slug:unique'],
	['a value changed to another’s', 'PATCH /article/2', { slug: 'first' }, '409 conflict slug:unique'],
	[
		'a replaced value that another has',
		'PUT /article/2',
		{ title: 'x', slug: 'first' },
		'409 conflict slug:unique',
	],
	[
		'a hidden value that the caller may write',
		'POST /article',
		{ title: 'x', hidden_code: 'code' },
		'409 conflict hidden_code:unique',
	],
	[
		'an author that there isn’t',
		'POST /article',
		{ title: 'x', author: 99 },
		'409 conflict author:foreign_key',
	],
	['a change to one that there isn’t', 'PATCH /article/1', { author: 99 }, '409 conflict author:foreign_key'],
	['the deletion of an author with articles', 'DELETE /author/1', undefined, '409 conflict '],
	['null where there must be something', 'POST /article', { title: null }, '422 invalid title:required'],
	['nothing where there must be something', 'POST /article', {}, '422 invalid title:required'],
	['null by a change', 'PATCH /article/1', { title: null }, '422 invalid title:required'],
	['a value against a check', 'POST /article', { title: 'x', price: -1 }, '422 invalid price:check'],
	['a change against a check', 'PATCH /article/1', { price: -1 }, '422 invalid price:check'],
	[
		'a number beyond its column',
		'POST /article',
		{ title: 'x', quantity: 40_000 },
		'422 invalid quantity:max',
	],
	['a number of no type', 'POST /article', { title: 'x', author: 2 ** 60 }, '422 invalid author:'],
	['a fraction', 'POST /article', { title: 'x', author: 1.5 }, '422 invalid author:'],
	['NUL in a text', 'POST /article', { title: 'a\0b' }, '422 invalid title:'],
	['a text that is too long', 'POST /article', { title: 'x'.repeat(11) }, '422 invalid title:'],
]

/** SQLite doesn't report which constraint was violated, and has no small integers. */
const ON_SQLITE: Readonly<Record<string, string | undefined>> = {
	'409 conflict author:foreign_key': '409 conflict ',
	'422 invalid price:check': '422 invalid ',
	'422 invalid quantity:max': undefined,
}

const stores = await storesHere()

for (const { name, open } of stores) {
	describe(`constraints of ${name}`, (test) => {
		let store: Store
		let site: Asking

		test.before(async () => {
			store = await open()
			const article = new CrudHandler(store.article, {
				visible: ['id', 'title', 'slug', 'author', 'quantity', 'price'],
				updatable: ['title', 'slug', 'author', 'quantity', 'price', 'hidden_code'],
				allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
			})
			const author = new CrudHandler(store.author, {
				visible: 'all',
				updatable: ['name'],
				allow: ['list', 'read', 'create', 'update', 'remove'],
			})
			const closed = new CrudHandler(store.article, {
				visible: ['id', 'title'],
				updatable: ['title'],
				allow: ['create', 'update'],
			})
			/** Sets fields that its callers can neither see nor write. */
			class Twins extends CrudHandler {
				override create(values: object) {
					return super.create({ ...values, hidden_twin: 'twin' })
				}
				override update(id: string, values: object) {
					return super.update(id, { ...values, hidden_code: 'code', author: 99 })
				}
			}
			const twins = new Twins(store.article, {
				visible: ['id', 'title'],
				updatable: ['title'],
				allow: ['create', 'update'],
			})
			site = asking({ article, author, closed, twins })
		})
		test.after(() => store.close())

		for (const [what, request, body, general] of REFUSALS) {
			const expected = name === 'sqlite' && general in ON_SQLITE ? ON_SQLITE[general] : general
			if (expected === undefined) continue
			test(`${what}: ${expected}`, async () => {
				const before = (await site.ask('/article?count=exact')).text()
				const { status, headers, text } = await site.ask(request, {
					headers: { 'content-type': 'application/json' },
					...(body === undefined ? {} : { body: JSON.stringify(body) }),
				})
				const said = JSON.parse(text())
				const details = (said.details ?? []) as readonly { field: string; code: string }[]
				const [status_, code, detail = ''] = expected.split(' ')
				assert.is(String(status), status_, text())
				assert.is(said.code, code, text())
				const told = details.map((one) => `${one.field}:${one.code}`).join()
				assert.ok(detail.endsWith(':') ? told.startsWith(detail) : told === detail, text())
				if (!request.includes('hidden') && detail !== 'hidden_code:unique')
					assertTellsNothing(answerOf(status, headers, text()))
				assert.is((await site.ask('/article?count=exact')).text(), before)
			})
		}

		test("a constraint violation in a field the caller cannot write is 409 without the field's name", async () => {
			const json = { 'content-type': 'application/json' }
			const body = JSON.stringify({ title: 'twin' })
			assert.is((await site.ask('POST /twins', { headers: json, body })).status, 201)
			for (const request of ['POST /twins', 'PATCH /twins/2']) {
				const { status, headers, text } = await site.ask(request, { headers: json, body })
				assert.is(status, 409, text())
				assert.is(JSON.parse(text()).details, undefined)
				assertTellsNothing(answerOf(status, headers, text()))
				assert.not.match(text(), /author|slug|twin|code"?:"?other/)
			}
		})

		test('a dropped column causes one 503, is then left out, and is named in the log', async () => {
			const table = store.article.name
			const prefix = name === 'postgres' ? `faults_${process.pid}.` : ''
			await store.exec(`alter table ${prefix}${table} rename column quantity to amount`)
			const answer = await site.ask('/article/1')
			await store.exec(`alter table ${prefix}${table} rename column amount to quantity`)
			assert.is(answer.status, 503, answer.text())
			assertTellsNothing(answerOf(answer.status, answer.headers, answer.text()))
			const told = site.lines.map(({ fields }) => inspect(fields.err))
			assert.match(told.join('\n'), /no longer has quantity, which is left out/)
			assert.is((await site.ask('/article/1')).status, 200)
		})
	})
}

/** The parts of a response without a socket that `assertTellsNothing` checks. */
function answerOf(status: number, given: object, text: string) {
	const headers = new Headers()
	for (const [name, value] of Object.entries(given)) headers.set(name, String(value))
	return { status, headers, text, milliseconds: 0, body: JSON.parse(text) }
}
