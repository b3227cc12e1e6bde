import * as assert from 'uvu/assert'
import { CrudClient, type CrudClientOptions } from '../../lib/client/index.ts'
import { settingsOf } from '../../lib/client/settings.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('client: options', (test) => {
	test('have defaults, also where they are undefined', () => {
		const defaults = { wrap: true, retries: 2, methodOverride: false }
		assert.equal(settingsOf('a client', {}), defaults)
		const given = {
			fetch: undefined,
			headers: undefined,
			sign: undefined,
			wrap: undefined,
			retries: undefined,
		}
		// The wrong type is what is tested.
		assert.equal(settingsOf('a client', given as object), defaults)
	})

	const sign = (request: Request) => request
	const good: CrudClientOptions[] = [
		{ retries: 0, wrap: false, methodOverride: true, sign, fetch, key: 'slug' },
		{ retries: 10, headers: {} },
		{ headers: { 'X-A': 'a' } },
		{ headers: () => ({}) },
	]
	for (const options of good) {
		test(`${Object.keys(options).join(', ')} may be ${Object.values(options).map(String).join(', ')}`, () => {
			assert.is(new CrudClient('article', '/blog', options).url, '/blog/article')
		})
	}

	const headers =
		"a CrudClient's headers must be an object of texts, like { 'X-A': 'a' }, or a function that returns one"
	const retries = "a CrudClient's retries must be a whole number from 0 to 10"
	const wrong: [string, unknown, string][] = [
		['null', null, "a CrudClient's options must be an object"],
		['a text', '/blog', "a CrudClient's options must be an object"],
		[
			'an option that there is not',
			{ retry: 1 },
			'a CrudClient has no option retry: there are fetch, headers, wrap, sign, retries, methodOverride, key',
		],
		[
			'the name of something else',
			{ toString: 1 },
			'a CrudClient has no option toString: there are fetch, headers, wrap, sign, retries, methodOverride, key',
		],
		['fetch', { fetch: 'fetch' }, "a CrudClient's fetch must be a function"],
		['sign', { sign: { id: 'k1' } }, "a CrudClient's sign must be a function"],
		['wrap', { wrap: 0 }, "a CrudClient's wrap must be true or false"],
		['methodOverride', { methodOverride: 'PUT' }, "a CrudClient's methodOverride must be true or false"],
		...[-1, 11, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null, true, 2n].map(
			(value): [string, unknown, string] => [`retries ${value}`, { retries: value }, retries],
		),
		['key', { key: '' }, "a CrudClient's key must be a field's name, or a list of them"],
		['key', { key: Symbol('id') }, "a CrudClient's key must be a field's name, or a list of them"],
		['headers null', { headers: null }, headers],
		['headers that are a text', { headers: 'X-A: a' }, headers],
		['headers that are a Headers', { headers: new Headers({ 'X-A': 'a' }) }, headers],
		['headers that are a Map', { headers: new Map([['X-A', 'a']]) }, headers],
		['headers that are pairs', { headers: [['X-A', 'a']] }, headers],
		['a header that is undefined', { headers: { Authorization: undefined } }, headers],
		['a header that is a number', { headers: { 'X-A': 5 } }, headers],
	]
	for (const [what, options, message] of wrong) {
		test(`${what} is refused by its name`, () => {
			// The wrong type is what is tested.
			const make = () => new CrudClient('article', '/blog', options as CrudClientOptions)
			assert.throws(make, (error: unknown) => error instanceof TypeError)
			assert.is(messageOf(make), message)
		})
	}
})
