import * as assert from 'uvu/assert'
import { RestHandler } from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

class Queries extends RestHandler {
	get_query() {
		const { query } = this
		return [Object.getPrototypeOf(query) === null, { ...query }]
	}
	get_all(name: string) {
		return this.queryAll(name)
	}
	get_same() {
		const { query } = this
		return query === this.query
	}
	get_unread() {
		return 'unread'
	}
}

const { said } = asking({ q: new Queries() })

describe('handler: query', (test) => {
	const table: [string, string][] = [
		['/q/query', ok([true, {}])],
		['/q/query?', ok([true, {}])],
		['/q/query?a=1&b=2', ok([true, { a: '1', b: '2' }])],
		['/q/query?a=1&a=2', ok([true, { a: '2' }])],
		['/q/query?a', ok([true, { a: '' }])],
		['/q/query?a=b+c%20d%26', ok([true, { a: 'b c d&' }])],
		['/q/query?a[]=1', ok([true, { 'a[]': '1' }])],
		['/q/query?constructor=1', ok([true, { constructor: '1' }])],
		['/q/all/a?a=1&b=2&a=3', ok(['1', '3'])],
		['/q/all/b?a=1', ok([])],
		['/q/all/constructor?a=1', ok([])],
		['/q/same?a=1', ok(true)],
		['http://example.org/q/query?a=1', ok([true, { a: '1' }])],
		['/q/unread?a=%zz', ok('unread')],
	]
	for (const [request, answer] of table) {
		test(`${request} → ${answer}`, async () => assert.is(await said(request), answer))
	}

	for (const query of ['a=%', 'a=%zz', '%C3=1', '__proto__=1', 'a=é']) {
		test(`?${query} is 400 where it is read`, async () => {
			assert.match(
				await said(`/q/query?${query}`),
				/^400 \{"success":false,"error":"(The query|Query parameter 1) /,
			)
			assert.match(await said(`/q/all/a?${query}`), /^400 /)
		})
	}
})
