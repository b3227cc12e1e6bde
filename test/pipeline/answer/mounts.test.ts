import * as assert from 'uvu/assert'
import { RestHandler } from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { NOT_ALLOWED, NOT_FOUND } from './echo.ts'

class WithDefaults extends RestHandler {
	override customRoutes = { 'GET custom': 'custom' }
	get__default(...all: string[]) {
		return ['get__default', ...all]
	}
	post__default(one: string) {
		return ['post__default', one]
	}
	get_known(id: string) {
		return ['get_known', id]
	}
	custom() {
		return 'custom'
	}
}

describe('answer: _default', (test) => {
	const { said, ask } = asking({ api: new WithDefaults() })
	const answers: [string, string][] = [
		['/api', ok(['get__default'])],
		['/api/', ok(['get__default'])],
		['/api/a/b%20c', ok(['get__default', 'a', 'b c'])],
		['POST /api/a', ok(['post__default', 'a'])],
		['POST /api', ok(['post__default', null])],
		['POST /api/a/b', NOT_ALLOWED],
		['/api/known/5', ok(['get_known', '5'])],
		['/api/known/5/6', NOT_FOUND],
		['POST /api/known', NOT_ALLOWED],
		['POST /api/custom', NOT_ALLOWED],
		['DELETE /api/a', NOT_ALLOWED],
	]
	for (const [request, answer] of answers) {
		test(`${request} → ${answer}`, async () => assert.is(await said(request), answer))
	}

	for (const [request, allow] of [
		['DELETE /api/a', 'GET, HEAD, POST, OPTIONS'],
		['DELETE /api/a/b', 'GET, HEAD, OPTIONS'],
		['POST /api/known', 'GET, HEAD, OPTIONS'],
		['POST /api/custom', 'GET, HEAD, OPTIONS'],
		['OPTIONS /api', 'GET, HEAD, POST, OPTIONS'],
		['OPTIONS /api/a/b', 'GET, HEAD, OPTIONS'],
	] as const) {
		test(`${request} allows ${allow}`, async () => assert.is((await ask(request)).headers.allow, allow))
	}

	test('without a matching default the path is 404 under any method', async () => {
		class OnlyOne extends RestHandler {
			post__default() {}
		}
		const only = asking({ api: new OnlyOne() })
		assert.is(await only.said('/api/a'), NOT_FOUND)
		assert.is(await only.said('/api'), NOT_ALLOWED)
	})
})

describe('answer: mounts', (test) => {
	class Named extends RestHandler {
		private readonly label: string
		constructor(label: string) {
			super()
			this.label = label
		}
		get__default(...all: string[]) {
			return [this.label, ...all]
		}
	}
	const handlers = {
		blog: new Named('blog'),
		'/blog/api/': new Named('blog/api'),
		'блог/a-b': new Named('cyrillic'),
		'/': new Named('root'),
	}

	test('the longest handler path wins, and the root handles the rest', async () => {
		const { said } = asking(handlers)
		assert.is(await said('/blog'), ok(['blog']))
		assert.is(await said('/blog/x'), ok(['blog', 'x']))
		assert.is(await said('/blog/api'), ok(['blog/api']))
		assert.is(await said('/blog/api/x'), ok(['blog/api', 'x']))
		assert.is(await said('/blog/apix'), ok(['blog', 'apix']))
		assert.is(await said('/'), ok(['root']))
		assert.is(await said('/x/y'), ok(['root', 'x', 'y']))
		assert.is(await said('/%D0%B1%D0%BB%D0%BE%D0%B3/a-b'), ok(['cyrillic']))
	})

	test('base is the prefix of every handler path', async () => {
		const { said } = asking(handlers, { base: '/v1/x/' })
		assert.is(await said('/v1/x/blog/api/y'), ok(['blog/api', 'y']))
		assert.is(await said('/v1/x'), ok(['root']))
		assert.is(await said('/blog'), NOT_FOUND)
		assert.is(await said('/v1'), NOT_FOUND)
	})
})
