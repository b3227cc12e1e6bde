/**
 * The same totals from each store, whatever is asked for: `MemoryModel`, which adds up with all digits, is the oracle. Run
 * short by the `.test.ts`, long by the `.long.ts`.
 */
import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { CrudHandler, type CrudOptions, createServer, type Model, type Values } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { anyTotals, TOTALS } from './any-totals.ts'
import { openStores, type Store } from './stores.ts'
import { VISIBLE } from './things.ts'

const OPTIONS: CrudOptions = {
	visible: VISIBLE,
	searchable: ['title', 'note'],
	allow: ['totals', 'read'],
	totals: TOTALS,
}

/** Serves the model's totals at `/things`, and at `/mine` within the scope of `x-owner`. */
function serve(model: Model) {
	class Reading extends CrudHandler {}
	class Mine extends CrudHandler {
		override scope() {
			return { owner: this.request.header('x-owner') }
		}
	}
	const relations = (to: () => CrudHandler) => ({ mother: { to, by: 'parent' } })
	const all: CrudHandler = new Reading(model, { ...OPTIONS, relations: relations(() => all) })
	const mine: CrudHandler = new Mine(model, { ...OPTIONS, relations: relations(() => mine) })
	return createServer({ things: all, mine }, { logger: new Log(), logRequests: false })
}

/** Around changes of the clocks, and far from them. */
const moments = fc.oneof(
	fc.constantFrom(
		...[
			'2026-03-29T00:59:59.999Z',
			'2026-03-29T01:00:00.000Z',
			'2026-10-25T00:30:00.000Z',
			'2026-10-25T01:00:00.000Z',
		],
		...[
			'2026-03-08T05:29:59.000Z',
			'2026-03-08T05:30:00.000Z',
			'2026-11-01T04:30:00.000Z',
			'2026-01-01T00:00:00.000Z',
		],
		...[
			'2024-12-30T12:00:00.000Z',
			'2021-01-03T23:59:59.999Z',
			'1986-01-01T00:00:00.000Z',
			'2500-07-01T00:00:00.000Z',
		],
		...[
			'9998-07-05T22:30:00.000Z',
			'2099-12-31T23:30:00.000Z',
			'2026-02-15T01:59:59.000Z',
			'2026-03-22T02:00:00.000Z',
		],
	),
	fc.integer({ min: Date.UTC(1972, 0), max: Date.UTC(2037, 0) }).map((time) => new Date(time).toISOString()),
)
const days = fc.constantFrom(
	'2026-11-20',
	'2027-01-03',
	'2024-12-30',
	'2000-02-29',
	'0001-01-01',
	'9999-12-31',
)
const cents = fc.oneof(
	fc.integer({ min: -500, max: 500 }).map(BigInt),
	fc.bigInt({ min: -999_999_999_999n, max: 999_999_999_999n }),
)
const prices = cents.map((all) => {
	const digits = String(all < 0n ? -all : all).padStart(3, '0')
	return `${all < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
})
const ranks = fc.oneof(
	fc.integer({ min: -5, max: 5 }),
	fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, 4294967296n, -4294967297n),
)
const record = fc.record({
	title: fc.constantFrom('a', 'b c', 'd'),
	status: fc.constantFrom('draft', 'public', ''),
	note: fc.option(fc.constantFrom('x', 'Y', '"\\', 'é', '😀', 'x ')),
	rank: fc.option(ranks),
	ratio: fc.option(fc.integer({ min: -40, max: 40 }).map((quarters) => quarters / 4)),
	price: fc.option(prices),
	done: fc.option(fc.boolean()),
	day: fc.option(days),
	at: fc.option(moments),
	stock: fc.option(fc.constantFrom(1, 2, -7, 2_147_483_647, -2_147_483_648)),
	clock: fc.option(fc.constantFrom('00:00:00', '09:59:59', '23:59:59')),
	token: fc.option(
		fc.constantFrom('0189c7c2-7b1e-6c3e-9b1a-2f6d5f1c0a3b', '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3c'),
	),
	owner: fc.constantFrom('alice', 'bob'),
	/** The number of an earlier record. */
	parent: fc.option(fc.nat({ max: 9 })),
})

const asked = fc.record({
	query: anyTotals({ added: ['rank', 'ratio', 'price', 'stock'], isLate: false }),
	owner: fc.constantFrom(undefined, undefined, 'alice'),
})

async function fill(model: Model, records: readonly Values[]): Promise<void> {
	const selection = { fields: ['id'], names: ['id'], version: undefined }
	const ids: string[] = []
	for (const { parent, ...values } of records) {
		const of = parent === null || parent === undefined ? undefined : ids[Number(parent)]
		const { id } = await model.create({ ...values, parent: of === undefined ? null : Number(of) }, selection)
		ids.push(id)
	}
}

export function sameTotals(prefix: string, numRuns: number): void {
	describe('totals over all stores', (test) => {
		let stores: readonly Store[] = []
		test.before(async () => {
			stores = await openStores(prefix)
		})
		test.after(async () => {
			for (const store of stores) await store.close()
		})

		test(`${numRuns} times any records, and any totals of them, are the same from each`, async () => {
			let answered = 0
			await fc.assert(
				fc.asyncProperty(
					fc.array(record, { maxLength: 14 }),
					fc.array(asked, { minLength: 4, maxLength: 12 }),
					async (records, requests) => {
						const servers: { readonly name: string; readonly server: ReturnType<typeof serve> }[] = []
						for (const store of stores) {
							const model = await store.emptied()
							await fill(model, records)
							servers.push({ name: store.name, server: serve(model) })
						}
						for (const { query, owner } of requests) {
							const url = `/${owner === undefined ? 'things' : 'mine'}/totals${query}`
							const headers = owner === undefined ? {} : { 'x-owner': owner }
							let expected: unknown
							for (const { name, server } of servers) {
								const { status, text } = await server.inject({ url, headers })
								// SQLite writes a whole float as 2.0.
								const said = `${status} ${text().replaceAll(/(:-?\d+)\.0(?=[,}])/g, '$1')}`
								ok(status < 500, `${name}: ${url}: ${said}`)
								if (status === 200) answered++
								expected ??= said
								deepStrictEqual(said, expected, `${name} answers otherwise: ${url}`)
							}
						}
					},
				),
				{ numRuns, includeErrorInReport: true },
			)
			ok(answered > numRuns * 4, `only ${answered} were answered`)
		})
	})
}
