import * as assert from 'uvu/assert'
import * as z from 'zod'
import { RestHandler, type Specs } from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const FORM = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
const MULTIPART = { headers: { 'content-type': 'multipart/form-data; boundary=X' } }
const PART = '--X\r\nContent-Disposition: form-data; name=age\r\n\r\n5\r\n--X--'

class Params extends RestHandler {
	override customRoutes = { 'POST custom': 'custom' }
	override specs: Specs = {
		post_declared: { title: ['required', 'string'], age: ['integer'] },
		custom: ['a'],
		post_schema: z.object({ n: z.number() }),
		post_declared_null: ['a'],
	}
	post_rules() {
		return this.getParams({ title: ['required', 'string', { max: 5 }], age: ['integer', { min: 0 }] })
	}
	post_names() {
		return this.getParams(['a', 'b'])
	}
	post_booleans() {
		return this.getParams({ a: true, b: false })
	}
	post_zod() {
		return this.getParams({ n: z.number(), s: ['string'] })
	}
	get_query() {
		return this.getParams({ age: ['required', 'integer'], on: ['boolean'], tag: ['array'] }, this.query)
	}
	post_declared() {
		return this.getParams()
	}
	post_schema() {
		return this.getParams()
	}
	custom() {
		return this.getParams()
	}
	post_undeclared() {
		return this.getParams()
	}
	post_helper() {
		return this.read()
	}
	private read() {
		return this.getParams({ a: ['string'] })
	}
	post_async() {
		return this.getParamsAsync({ a: z.string().refine(async (text) => text !== 'taken', 'is in use') })
	}
	post_promise() {
		return this.getParams({ a: z.string().refine(async () => true) })
	}
	post_wrong() {
		return this.getParams({ a: ['strnig' as 'string'] })
	}
	post_declared_null() {
		return this.getParams(null as never)
	}
}

const { said, ask, logged } = asking({ p: new Params() })

describe('handler: getParams', (test) => {
	const table: [string, unknown, Parameters<typeof said>[1], string][] = [
		['POST /p/rules', { title: 'Dune', age: 5, other: 1 }, {}, ok({ title: 'Dune', age: 5 })],
		['POST /p/rules', { title: 'Dune' }, {}, ok({ title: 'Dune' })],
		['POST /p/rules', 'title=Dune&age=5', FORM, ok({ title: 'Dune', age: 5 })],
		['POST /p/names', { b: null, a: 1, c: 2 }, {}, ok({ a: 1, b: null })],
		['POST /p/names', {}, {}, ok({})],
		['POST /p/names', undefined, {}, ok({})],
		['POST /p/names', PART, MULTIPART, ok({})],
		['POST /p/booleans', { a: 1 }, {}, ok({ a: 1 })],
		['POST /p/zod', { n: 1, s: 'x' }, {}, ok({ n: 1, s: 'x' })],
		['/p/query?age=5&on=true', undefined, {}, ok({ age: 5, on: true })],
		['POST /p/declared', { title: 'Dune', age: 5 }, {}, ok({ title: 'Dune', age: 5 })],
		['POST /p/declared', 'title=Dune&age=5', FORM, ok({ title: 'Dune', age: 5 })],
		['POST /p/schema', { n: 1 }, {}, ok({ n: 1 })],
		['POST /p/custom', { a: 1, b: 2 }, {}, ok({ a: 1 })],
		['POST /p/helper', { a: 'b' }, {}, ok({ a: 'b' })],
		['POST /p/async', { a: 'free' }, {}, ok({ a: 'free' })],
	]
	for (const [request, body, more, answer] of table) {
		test(`${request} of ${JSON.stringify(body)} → ${answer}`, async () => {
			assert.is(await said(request, { ...more, body }), answer)
			assert.is(await said(request, { ...more, body }), answer)
		})
	}

	const refusals: [string, unknown, Parameters<typeof said>[1], string, string[]][] = [
		['POST /p/rules', { title: 'Too long', age: -1 }, {}, '422', ['title max', 'age min']],
		['POST /p/rules', { title: 5, age: '5' }, {}, '422', ['title string', 'age integer']],
		['POST /p/rules', {}, {}, '422', ['title required']],
		['POST /p/rules', undefined, {}, '422', ['title required']],
		['POST /p/rules', 'title=Dune&age=x', FORM, '422', ['age integer']],
		['POST /p/booleans', {}, {}, '422', ['a required']],
		['/p/query?on=x', undefined, {}, '422', ['age required', 'on boolean']],
		['POST /p/declared', {}, {}, '422', ['title required']],
		['POST /p/rules', [1], {}, '422', []],
		['POST /p/rules', '{', { headers: { 'content-type': 'application/json' } }, '400', []],
		['POST /p/rules', 'x', { headers: { 'content-type': 'text/plain' } }, '415', []],
	]
	for (const [request, body, more, status, problems] of refusals) {
		test(`${request} of ${JSON.stringify(body)} → ${status} ${problems.join(', ')}`, async () => {
			const reply = await ask(request, { ...more, body })
			const { details = [] } = reply.json() as { details?: { field: string; code: string }[] }
			assert.is(String(reply.status), status)
			assert.equal(
				details.map(({ field, code }) => `${field} ${code}`),
				problems,
			)
		})
	}

	test('an asynchronous schema refuses as any other', async () => {
		assert.match(await said('POST /p/async', { body: { a: 'taken' } }), /^422 .*is in use/)
	})

	const mistakes: [string, RegExp][] = [
		[
			'POST /p/undeclared',
			/^this\.getParams\(\) without argument needs specs: \{ post_undeclared: … \} on the handler$/,
		],
		['POST /p/promise', /getParamsAsync/],
		['POST /p/wrong', /strnig/],
		['POST /p/declared_null', /fields are given as a plain object/],
	]
	for (const [request, message] of mistakes) {
		test(`${request} is a mistake in the method: 500, and the log says ${message}`, async () => {
			assert.is((await ask(request, { body: { a: 'b' } })).status, 500)
			assert.match(logged(), message)
		})
	}
})
