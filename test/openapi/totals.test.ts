/** The description of totals, and responses compared with it. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { documentOf, watch } from './tap.ts'

function orders(more: Partial<CrudOptions> = {}) {
	const model = new MemoryModel('order', {
		fields: {
			...{ id: 'integer', status: { type: 'text', choices: ['paid', 'open'] } },
			...{ amount: { type: 'decimal', nullable: true }, pieces: { type: 'integer', min: 0, max: 9 } },
			...{ big: { type: 'bigint', asText: true }, rate: 'float', created: 'timestamp', secret: 'text' },
		},
		key: 'id',
		rows: [
			{
				status: 'paid',
				amount: '10.00',
				pieces: 9,
				big: 2n ** 62n,
				rate: Number.NaN,
				created: '2026-11-20T12:00:00Z',
				secret: 'a',
			},
			{
				status: 'open',
				amount: null,
				pieces: 9,
				big: 2n ** 62n,
				rate: 0.5,
				created: '2027-01-03T12:00:00Z',
				secret: 'b',
			},
		],
	})
	return new CrudHandler(model, {
		visible: ['id', 'status', 'amount', 'pieces', 'big', 'rate', 'created'],
		allow: ['list', 'totals'],
		totals: {
			by: ['status', 'created', 'pieces'],
			of: ['amount', 'pieces', 'big', 'rate', 'created'],
			maxGroups: 50,
		},
		...more,
	})
}

interface Described {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
	readonly summary: string
	readonly parameters: readonly { readonly name: string; readonly schema: Record<string, unknown> }[]
}

describe('described totals', (test) => {
	test('have their parameters, with the names that they take', async () => {
		await listening({ order: orders() }, { openapi: true }, async ({ server }) => {
			const { paths } = (await documentOf(server)) as unknown as Described
			const operation = paths['/order/totals']?.get
			assert.is(operation?.summary, 'Total orders')
			const schemas = new Map(operation?.parameters.map(({ name, schema }) => [name, schema]))
			assert.equal(
				[...schemas.keys()].filter(
					(name) => name !== undefined && !/^(?:id|status|amount|pieces|big|rate|created)/.test(name),
				),
				['by', 'sum', 'avg', 'min', 'max', 'count', 'having', 'sort', 'limit', 'tz'],
			)
			const namesOf = (name: string) => (schemas.get(name)?.items as { enum?: unknown } | undefined)?.enum
			const parts = ['year', 'quarter', 'month', 'week', 'day', 'hour'].map((part) => `created:${part}`)
			assert.equal(namesOf('by'), ['status', 'created', ...parts, 'pieces'])
			assert.is(schemas.get('by')?.uniqueItems, true)
			assert.equal(namesOf('sum'), ['amount', 'pieces', 'big', 'rate'])
			assert.equal(namesOf('max'), ['amount', 'pieces', 'big', 'rate', 'created'])
			assert.equal(schemas.get('limit'), { type: 'integer', minimum: 1, maximum: 50 })
			assert.ok(!JSON.stringify(paths['/order/totals']).includes('secret'))
		})
	})

	test('are as they are described', async () => {
		await listening({ order: orders() }, { openapi: true }, async ({ server, url }) => {
			const watched = await watch(server)
			const queries = [
				'by=status&count=exact&sum=amount,pieces,big,rate',
				'avg=amount,pieces,big,rate&min=amount,created,rate&max=created,pieces,big',
				...['created', 'created:year', 'created:quarter', 'created:month', 'created:week', 'created:day'].map(
					(key) => `by=${key},pieces&tz=Europe/Berlin`,
				),
				...[
					'by=created:hour&sort=-created&limit=1',
					'count=exact&sum=amount&id=0',
					'by=nothing',
					'status=paid',
				],
			]
			for (const query of queries) await fetch(`${url}/order/totals?${query}`)
			assert.equal(watched.problems(), [])
			assert.is(watched.answers().length, queries.length)
		})
	})

	test('without anything to add up, only have keys', async () => {
		await listening(
			{ order: orders({ totals: { by: ['status'] } }) },
			{ openapi: true },
			async ({ server }) => {
				const { paths } = (await documentOf(server)) as unknown as Described
				const names = paths['/order/totals']?.get?.parameters.map(({ name }) => name) ?? []
				assert.equal(names.slice(0, 6), ['by', 'count', 'having', 'sort', 'limit', 'tz'])
			},
		)
	})
})
