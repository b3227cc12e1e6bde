/** Custom routes: declaration, precedence, and robustness against hostile paths. */
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { RouteTable } from '../../../lib/routing/custom/custom-routes.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { agrees, cases } from './oracle.ts'

function tableOf(...keys: string[]): RouteTable<string> {
	const table = new RouteTable<string>()
	for (const key of keys) table.add(key, key)
	return table
}

describe('RouteTable', (test) => {
	test('a route answers only its methods, with its params in order', () => {
		const table = tableOf('GET|POST custom/%s/page/%d')
		const expected = { value: 'GET|POST custom/%s/page/%d', params: ['a b', 7] }
		assert.equal(table.match('GET', ['custom', 'a b', 'page', '7']), expected)
		assert.equal(table.match('POST', ['custom', 'a b', 'page', '7']), expected)
		assert.is(table.match('PUT', ['custom', 'a b', 'page', '7']), undefined)
	})

	test('ALL is every method but QUERY', () => {
		assert.equal(tableOf('ALL a').methodsFor(['a']), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
	})

	test('the route declared first matches, whatever its shape', () => {
		const table = tableOf('POST a/b', 'ALL a/%s', 'GET a/b')
		assert.is(table.match('GET', ['a', 'b'])?.value, 'ALL a/%s')
		assert.is(table.match('POST', ['a', 'b'])?.value, 'POST a/b')
	})

	test('methodsFor joins the methods of all routes that match, in the order of Allow', () => {
		const table = tableOf('QUERY|PATCH a/%s', 'DELETE|GET %s/b', 'POST a/c')
		assert.equal(table.methodsFor(['a', 'b']), ['GET', 'PATCH', 'DELETE', 'QUERY'])
		assert.equal(table.methodsFor(['a', 'c']), ['POST', 'PATCH', 'QUERY'])
		assert.equal(table.methodsFor(['b']), [])
	})

	test('a slash inside a decoded segment is text', () => {
		assert.equal(tableOf('GET files/%s').match('GET', ['files', 'a/b'])?.params, ['a/b'])
	})

	test('an empty table matches nothing', () => {
		const table = tableOf()
		assert.is(table.size, 0)
		assert.is(table.match('GET', ['a']), undefined)
		assert.equal(table.methodsFor(['a']), [])
	})

	test('a route may lead to any value, undefined too', () => {
		const table = new RouteTable<undefined>()
		table.add('GET a', undefined)
		assert.equal(table.match('GET', ['a']), { value: undefined, params: [] })
	})

	test('each match has its own params', () => {
		const table = tableOf('GET a')
		assert.is.not(table.match('GET', ['a'])?.params, table.match('GET', ['a'])?.params)
	})
})

describe('RouteTable: refusals', (test) => {
	const table: [string, string, string][] = [
		['GET a', 'GET a', 'GET'],
		['GET a', 'GET /a', 'GET'],
		['GET|POST a', 'ALL a', 'GET'],
		['POST /a/%s-%d', 'PATCH|POST a/%s-%d', 'POST'],
	]
	for (const [first, second, method] of table) {
		test(`${second} after ${first} is refused`, () => {
			const routes = tableOf(first)
			const why = `${method} with this pattern is declared by '${first}' already: remove one`
			try {
				routes.add(second, 'x')
			} catch (error) {
				assert.instance(error, TypeError)
				assert.is((error as TypeError).message, `customRoutes['${second}']: ${why}`)
				assert.is(routes.size, 1)
				assert.is(routes.match('PATCH', ['a', 'x-1']), undefined)
				return
			}
			assert.unreachable('it was accepted')
		})
	}

	test('a key that cannot be read is refused, and leaves the table as it was', () => {
		const routes = tableOf()
		assert.match(
			messageOf(() => routes.add('GET custom/%x', 'x')),
			"customRoutes['GET custom/%x']: unknown placeholder %x",
		)
		assert.is(routes.size, 0)
	})

	for (const pair of [
		['GET a', 'POST a'],
		['GET %s', 'GET %d'],
		['GET %s', 'GET %%s'],
		['GET a', 'GET A'],
		['GET %s-%d', 'GET %d-%s'],
	]) {
		test(`${pair.join(' and ')} are two routes`, () => assert.is(tableOf(...pair).size, 2))
	}
})

describe('RouteTable with 10,000 routes', (test) => {
	const shapes: [string, string, (string | number)[]][] = [
		['#/b/c', '#/b/c', []],
		['%s/#', 'x/#', ['x']],
		['%s/x/%d/#', 'y/x/5/#', ['y', 5]],
		['#-%d', '#-5', [5]],
		['%d-#', '5-#', [5]],
		['%s.#', 'x.#', ['x']],
		['%s-#-%s', 'x-#-y', ['x', 'y']],
	]
	for (const [pattern, path, params] of shapes) {
		test(`each like ${pattern} answers only its own path`, () => {
			const table = new RouteTable<number>()
			for (let at = 0; at < 10_000; at++) table.add(`GET ${pattern.replace('#', `a${at}`)}`, at)
			for (let at = 0; at < 10_000; at += 7) {
				assert.equal(table.match('GET', path.replace('#', `a${at}`).split('/')), { value: at, params })
				assert.is(table.match('GET', path.replace('#', `b${at}`).split('/')), undefined)
			}
		})
	}
})

describe('RouteTable compared with trying each route in turn', (test) => {
	test('the same route matches with the same params', () => {
		fc.assert(
			fc.property(cases, ([keys, segments]) => agrees(keys, segments)),
			{ numRuns: trials(300) },
		)
	})

	test('no path makes it throw', () => {
		const routes = tableOf(
			'GET a',
			'GET %s-%d/x',
			'GET %d0%d%%/%s',
			'ALL %d',
			'ALL %s.%s',
			'GET x%s/%s-%s-%s',
		)
		const segments = fc.array(fc.string({ unit: CODE_POINT }), { maxLength: 5 })
		fc.assert(
			fc.property(segments, (path) => {
				routes.match('GET', path)
				routes.methodsFor(path)
			}),
			{ numRuns: trials(300) },
		)
	})
})
