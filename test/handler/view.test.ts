import * as assert from 'uvu/assert'
import type { Exchange } from '../../lib/exchange/exchange.ts'
import { becomeView, exchangeOf, outsideRequest, viewConstructor } from '../../lib/handler/view.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

class Blog {
	title = 'shared'
}

/** Never used: views only hold a reference to it. */
const exchange = {} as Exchange

describe('view', (test) => {
	test("a view reads its handler's properties, and keeps its own", () => {
		const handler = new Blog()
		const view = viewConstructor(Object.create(handler) as object)
		const [one, two] = [view(exchange) as Blog, view(exchange) as Blog]
		assert.is(one.title, 'shared')
		one.title = 'mine'
		assert.equal([one.title, two.title, handler.title], ['mine', 'shared', 'shared'])
		assert.instance(one, Blog)
	})

	test('each view has its own exchange', () => {
		const view = viewConstructor({})
		const [a, b] = [{} as Exchange, {} as Exchange]
		assert.is(exchangeOf(view(a), 'query'), a)
		assert.is(exchangeOf(view(b), 'query'), b)
	})

	test('the exchange is not enumerable on a view', () => {
		assert.equal(Object.keys(viewConstructor({})(exchange)), [])
	})

	test('an instance can become a view only once', () => {
		const blog = new Blog()
		assert.is(becomeView(blog, exchange), blog)
		assert.is(exchangeOf(blog, 'query'), exchange)
		const message =
			'the factory has returned the same Blog twice: return a new one for each request, or mount the instance itself'
		assert.is(
			messageOf(() => becomeView(blog, exchange)),
			message,
		)
		assert.is(
			messageOf(() => becomeView(Object.freeze(new Blog()), exchange)),
			message,
		)
	})

	test('using a member without a view throws an error that names it', () => {
		const message =
			'this.query of Blog was used outside of a request: it works in the methods that a request calls, whose `this` is made for that request'
		assert.is(
			messageOf(() => exchangeOf(new Blog(), 'query')),
			message,
		)
		assert.is(outsideRequest(new Blog(), 'query').message, message)
		assert.instance(outsideRequest(new Blog(), 'query'), TypeError)
	})
})
