import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, ModelError, type ModelErrorKind } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { articles, OPTIONS, refusalOf } from './articles.ts'

/** A store that refuses everything, in the words of a driver. */
class Failing extends MemoryModel {
	readonly #error: () => Error

	constructor(error: () => Error) {
		super('sqltable', {
			key: 'id',
			fields: {
				id: 'integer',
				title: 'text',
				...{ body: { type: 'text', nullable: true }, state: { type: 'text', nullable: true } },
				...{ rating: 'float', published: { type: 'timestamp', nullable: true }, secret: 'text' },
				owner: { type: 'text', nullable: true },
			},
		})
		this.#error = error
	}

	override list(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override count(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override read(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override create(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override update(): Promise<never> {
		return Promise.reject(this.#error())
	}
	override delete(): Promise<never> {
		return Promise.reject(this.#error())
	}
}

const BODY = { title: 'T', rating: 1, secret: 's' }
const DRIVER = () =>
	new Error('duplicate key value violates unique constraint "sqltable_title_key" (SQLSTATE 23505)')

function failing(kind: ModelErrorKind, fields: readonly string[] = []) {
	return articles(new CrudHandler(new Failing(() => new ModelError(kind, fields, DRIVER())), OPTIONS))
}

const READS = ['/article', '/article?limit=0', 'QUERY /article', '/article/1', '/article/1?fields=id']
const WRITES = ['POST /article', 'PATCH /article/1', 'PUT /article/1']

describe('crud/model-errors', (test) => {
	const unavailable: [ModelErrorKind, string, string, string][] = [
		['busy', 'unavailable', '503 Service Unavailable', '1'],
		['unavailable', 'unavailable', '503 Service Unavailable', '5'],
		['outcome_unknown', 'outcome_unknown', '503 The outcome of this request is unknown', '5'],
	]
	for (const [kind, code, message, retryAfter] of unavailable) {
		test(`${kind} is ${message}, to be tried again, in every verb`, async () => {
			const asked = failing(kind)
			for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
				const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
				const reply = await asked.ask(request, { body })
				assert.is(reply.headers['retry-after'], retryAfter)
				assert.is((reply.json() as { code: string }).code, code)
				assert.is(await refusalOf(asked, request, { body }), message)
				assert.is(asked.lines.at(-1)?.level, 'error')
			}
		})
	}

	const writes: [ModelErrorKind, readonly string[], string][] = [
		['unique', ['title'], '409 title is taken by another record'],
		['unique', ['owner', 'title'], '409 title is taken by another record'],
		['unique', ['owner'], '409 It does not fit the records that are there'],
		['unique', [], '409 It does not fit the records that are there'],
		['foreign_key', ['title'], '409 title refers to a record that is not there'],
		['foreign_key', [], '409 It does not fit the records that are there'],
		['not_null', ['title'], '422 title must not be null'],
		['not_null', ['owner'], '422 A value can not be stored'],
		['check', ['title'], "422 title can't be stored with this value"],
		['check', [], '422 A value can not be stored'],
		['invalid', ['rating'], "422 rating can't be stored with this value"],
	]
	for (const [kind, fields, message] of writes) {
		test(`${kind} of ${fields.join() || 'nothing'} is ${message}`, async () => {
			for (const request of WRITES)
				assert.is(await refusalOf(failing(kind, fields), request, { body: BODY }), message)
		})
	}

	test('a record that others refer to is not deleted', async () => {
		assert.is(
			await refusalOf(failing('foreign_key', ['title']), 'DELETE /article/1'),
			'409 Other records refer to this one',
		)
	})

	test('what can not even be compared with is 400', async () => {
		for (const request of READS)
			assert.is(
				await refusalOf(failing('invalid', ['title']), request),
				'400 A value of the query can be none of its field',
			)
	})

	test('anything else is 500, logged, and no word of it is told', async () => {
		const asked = articles(new CrudHandler(new Failing(DRIVER), OPTIONS))
		for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
			const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
			assert.is(await refusalOf(asked, request, { body }), '500 Internal Server Error')
			assert.match(asked.logged(), /duplicate key/)
		}
	})

	test('no answer has a word of the store', async () => {
		for (const kind of [
			'unique',
			'foreign_key',
			'not_null',
			'check',
			'invalid',
			'busy',
			'unavailable',
			'outcome_unknown',
		] as const)
			for (const request of [...READS, ...WRITES, 'DELETE /article/1']) {
				const body = request.startsWith('/') || request.startsWith('QUERY') ? undefined : BODY
				const reply = await failing(kind, ['title', 'owner']).ask(request, { body })
				assert.not.match(reply.text(), /sql|table|constraint|key value|duplicate|owner|MemoryModel/i)
			}
	})

	test("an override's own use of the model is told alike", async () => {
		class Own extends CrudHandler {
			override list() {
				return this.model.count(undefined)
			}
		}
		const asked = articles(new Own(new Failing(() => new ModelError('unavailable')), OPTIONS))
		assert.is(await refusalOf(asked, '/article'), '503 Service Unavailable')
	})
})
