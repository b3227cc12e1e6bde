import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createServer, RestError, RestHandler, reply } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const silent = { info() {}, warn() {}, error() {} }

class Answering extends RestHandler {
	private readonly make: () => unknown
	constructor(make: () => unknown) {
		super()
		this.make = make
	}
	get_it() {
		return this.make()
	}
}

async function answered(value: () => unknown): Promise<string> {
	class Values extends RestHandler {
		get_it() {
			return value()
		}
	}
	const { status, body } = await createServer({ v: new Values() }, { logger: silent }).inject({
		url: '/v/it',
	})
	return `${status} ${body.toString().slice(0, 60)}`
}

function systemError(): unknown {
	try {
		return readFileSync('/no/such/secret')
	} catch (error) {
		return error
	}
}

describe('reply: values JSON would lose', (test) => {
	const lost: [string, () => unknown][] = [
		['a map', () => new Map([['a', 1]])],
		['a set', () => new Set([1])],
		['an error', () => new Error('secret')],
		['a buffer of no bytes', () => new ArrayBuffer(2)],
		['a blob', () => new Blob(['a'])],
		['a generator without async', () => [1, 2].values()],
	]
	for (const [name, value] of lost) {
		test(`${name} is 500 rather than {}`, async () =>
			assert.match(await answered(value), /^500 \{"success":false,"error":"Internal Server Error"/))
	}

	class Money {
		#cents = 5
		get cents() {
			return this.#cents
		}
	}
	const within: [string, unknown, string][] = [
		['a Request', new Request('http://a/'), 'a Request'],
		['Headers', new Headers({ a: 'b' }), 'a Headers'],
		['a Response', new Response('a'), 'a Response'],
		['a FormData', new FormData(), 'a FormData'],
		['URLSearchParams', new URLSearchParams('a=b'), 'an URLSearchParams'],
		['a Map', new Map([['a', 1]]), 'a Map'],
		['a Set', new Set([1]), 'a Set'],
		['a promise', Promise.resolve(1), 'a promise'],
		// biome-ignore lint/suspicious/noThenProperty: query builders are such
		['a thenable', { table: {}, then() {} }, 'a promise'],
		['a generator', [1].values(), 'an iterator'],
		['an error', new Error('secret'), 'an Error'],
		['an error of the system', systemError(), 'an Error'],
		[
			'an error of pg',
			Object.assign(new Error(), { code: '23505', detail: 'secret', routine: 'x' }),
			'an Error',
		],
		['an error of SQLite', Object.assign(new Error(), { code: 'SQLITE_BUSY' }), 'an Error'],
		['a regular expression', /a/, 'a RegExp'],
		['bytes without a view', new ArrayBuffer(1), 'an ArrayBuffer'],
		['an object that has all in getters', new Money(), 'a Money'],
		['a BigInt', 5n, 'a BigInt'],
	]
	for (const [name, value, kind] of within) {
		const places: [string, unknown][] = [
			['data.items[3].tags', { id: 1, items: [{}, {}, [], { a: {}, tags: value }] }],
			['data[1]["a b"]', [{}, { 'a b': value }]],
			['data.known.tags', { known: { toJSON: () => ({ tags: value }) } }],
		]
		for (const [place, data] of places) {
			test(`${name} within a value is 500, and the log says that it is ${place}`, async () => {
				const { said, logged } = asking({ v: () => new Answering(() => data) })
				assert.match(await said('/v/it'), /^500 \{"success":false,"error":"Internal Server Error"/)
				assert.ok(logged().startsWith(`${place} is ${kind}, which JSON can't hold: `), logged())
			})
		}
	}

	test('promises within a value that are rejected later do not end the process', async () => {
		const { said, logged } = asking({
			v: () =>
				new Answering(() => [
					{ a: pause(5).then(() => Promise.reject(new Error('one'))) },
					Promise.reject(new Error('another')),
				]),
		})
		assert.match(await said('/v/it'), /^500 /)
		assert.match(logged(), /^data\[0\]\.a is a promise, which JSON can't hold: await it/)
		await pause(20) // an unhandled rejection would end the process
	})

	test('it is found among many records, and in meta', async () => {
		const lose = new Map()
		const first = asking({
			v: () =>
				new Answering(async function* () {
					yield { id: 1, lose }
				}),
		})
		assert.match(await first.said('/v/it'), /^500 /)
		assert.match(first.logged(), /^data\[0\]\.lose is a Map/)
		const later = asking({
			v: () =>
				new Answering(async function* () {
					yield {}
					yield { id: 2, lose }
				}),
		})
		await later.said('/v/it').then(
			() => assert.unreachable(),
			(error: Error) => assert.match(error.message, /^data\[1\]\.lose is a Map/),
		)
		const meta = asking({ v: () => new Answering(() => reply([], { meta: { lose } })) })
		assert.match(await meta.said('/v/it'), /^500 /)
		assert.match(meta.logged(), /^meta\.lose is a Map/)
	})

	const kept: [string, unknown, string][] = [
		['objects that are just empty', { a: {}, b: [{}], c: Object.create(null) }, '{"a":{},"b":[{}],"c":{}}'],
		['an instance without fields', new (class Empty {})(), '{}'],
		['text that looks like it', { a: '{}' }, '{"a":"{}"}'],
		['an object of what JSON leaves out', { a: { b: undefined } }, '{"a":{}}'],
		[
			'what knows its JSON',
			{ a: {}, b: new Date(0), c: new URL('http://a/') },
			'{"a":{},"b":"1970-01-01T00:00:00.000Z","c":"http://a/"}',
		],
		['boxed values', { a: {}, b: Object(''), c: Object(0) }, '{"a":{},"b":"","c":0}'],
	]
	for (const [name, value, json] of kept) {
		test(`${name} is answered`, async () =>
			assert.is(
				await asking({ v: () => new Answering(() => value) }).said('/v/it'),
				`200 {"success":true,"data":${json}}`,
			))
	}

	test('a returned RestError is answered like a thrown one', async () => {
		assert.is(
			await answered(() => new RestError('forbidden')),
			'403 {"success":false,"error":"Forbidden","code":"forbidden"}',
		)
	})

	test('an error with toJSON is a value', async () => {
		const value = Object.assign(new Error('a'), { toJSON: () => ({ a: 1 }) })
		assert.is(await answered(() => value), '200 {"success":true,"data":{"a":1}}')
	})

	test('records under a 204 or 205 are closed and not sent', async () => {
		let closed = 0
		class Values extends RestHandler {
			async *get_none() {
				this.status(205)
				try {
					yield 1
				} finally {
					closed++
				}
			}
		}
		const { status, body, headers } = await createServer({ v: Values }).inject({ url: '/v/none' })
		assert.equal([status, body.length, headers['content-type'], closed], [205, 0, undefined, 1])
	})

	test('outcome_unknown has no Retry-After', async () => {
		class Values extends RestHandler {
			get_it() {
				throw new RestError('outcome_unknown')
			}
		}
		const { status, headers } = await createServer({ v: Values }).inject({ url: '/v/it' })
		assert.equal([status, headers['retry-after']], [503, undefined])
	})
})
