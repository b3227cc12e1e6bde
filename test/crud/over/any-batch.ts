/** Requests for fast-check to what only the handlers of `all-things.ts` have: transactions, totals, and deleted records. */
import fc from 'fast-check'
import type { Step } from './any-request.ts'
import { anyTotals } from './any-totals.ts'
import { FIELDS, good, nth } from './any-value.ts'
import type { Batch, BatchEnd, BatchStep } from './batch.ts'

/** Path and headers of a handler. */
export const anyPlace = fc.oneof(
	{ weight: 4, arbitrary: fc.constant({ path: '/things', owner: {} }) },
	{ weight: 2, arbitrary: fc.constant({ path: '/kept', owner: {} }) },
	{
		weight: 1,
		arbitrary: fc
			.constantFrom('alice', 'bob')
			.map((owner) => ({ path: '/mine', owner: { 'x-owner': owner } })),
	},
)

/** Records that the sequence has begun with. */
const early = fc.constantFrom('{{0}}', '{{1}}')
/** Mostly a record that is there, or one that the batch has created before. */
const id = fc.oneof(
	{ weight: 6, arbitrary: early },
	{ weight: 1, arbitrary: nth },
	{ weight: 1, arbitrary: fc.constantFrom('made 0', 'made 0', 'made 1') },
)
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 })
const fields = Object.fromEntries(
	FIELDS.map((name) => [
		name,
		name === 'parent' ? fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, id) : good(name),
	]),
)
const values = fc.record(fields, { requiredKeys: ['title'] })
const changes = fc.record(fields, { requiredKeys: [] })
const coded: typeof fields = { ...fields, code: fc.constantFrom('a', 'A', 'b') }
const upserted = fc.record(coded, { requiredKeys: ['title', 'code'] })

const by: fc.Arbitrary<BatchStep['by']> = fc.constantFrom(undefined, undefined, undefined, 'kept')
const of = (does: string, more: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}) =>
	fc.record({ does: fc.constant(does), by, ...more }) as fc.Arbitrary<BatchStep> // `more` is what this one has besides
const operation: fc.Arbitrary<BatchStep> = fc.oneof(
	{ weight: 4, arbitrary: of('create', { values }) },
	{ weight: 3, arbitrary: of('update', { id, values: changes }) },
	{ weight: 2, arbitrary: of('createMany', { records: few(values) }) },
	{
		weight: 2,
		arbitrary: of('updateMany', {
			records: fc
				.uniqueArray(fc.tuple(id, changes), { minLength: 1, maxLength: 3, selector: ([one]) => one })
				.map((all) => all.map(([one, own]) => ({ ...own, id: one }))),
		}),
	},
	{ weight: 2, arbitrary: of('upsert', { records: few(upserted) }) },
	{ weight: 2, arbitrary: of('remove', { id }) },
	{ weight: 1, arbitrary: of('removeMany', { ids: few(id) }) },
	{ weight: 1, arbitrary: of('replace', { id, values }) },
	{ weight: 1, arbitrary: of('read', { id }) },
	{ weight: 3, arbitrary: of('list') },
	{ weight: 2, arbitrary: of('totals') },
)
/** Only `kept` can restore, and only what it has deleted. */
const restored = fc.tuple(id, fc.boolean()).map(
	([one, isDeleted]): BatchStep => ({
		does: 'nest',
		steps: [
			...(isDeleted ? [{ does: 'remove', by: 'kept', id: one } as const] : []),
			{ does: 'restore', by: 'kept', id: one },
		],
		ends: 'commit',
	}),
)
const flat = fc.oneof({ weight: 12, arbitrary: operation }, { weight: 1, arbitrary: restored })
const ends = fc.constantFrom<BatchEnd>('commit', 'commit', 'commit', 'throw')
const nestOf = (one: fc.Arbitrary<BatchStep>): fc.Arbitrary<BatchStep> =>
	fc.record({ does: fc.constant('nest' as const), steps: few(one), ends })
const nested = nestOf(fc.oneof({ weight: 5, arbitrary: flat }, { weight: 1, arbitrary: nestOf(flat) }))
const batch: fc.Arbitrary<Batch> = fc.record({
	steps: fc.array(fc.oneof({ weight: 3, arbitrary: flat }, { weight: 2, arbitrary: nested }), {
		minLength: 1,
		maxLength: 5,
	}),
	ends: fc.oneof({ weight: 7, arbitrary: ends }, { weight: 1, arbitrary: fc.constant('error' as const) }),
})

/** What the batch's lists are of. */
const queries = fc.constantFrom(
	...['', '', '', '?sort=-title&limit=2', '?status=public&count=exact', '?search=a', '?mother.status=draft'],
	`?sort=mother.title&filter=${encodeURIComponent('{"mother":{"status":"draft"}}')}`,
)

const SENT = { 'content-type': 'application/json' }

const batches = fc.tuple(anyPlace, queries, batch).map(
	([{ path, owner }, query, sent]): Step => ({
		...{ method: 'POST', url: `${path}/batch${query}`, follows: false, body: JSON.stringify(sent) },
		headers: { ...owner, ...SENT },
	}),
)

/** Sums of floats depend on the order in which a database adds, and those here aren't exact. */
const totals = fc.tuple(anyPlace, anyTotals({ added: ['rank', 'price', 'stock'], isLate: true })).map(
	([{ path, owner }, query]): Step => ({
		...{ method: 'GET', url: `${path}/totals${query}`, follows: false, body: undefined },
		headers: owner,
	}),
)

const kept = fc
	.constantFrom(
		...['DELETE /{{N}}', 'DELETE /{{N}}', 'POST /{{N}}/restore', 'POST /{{N}}/restore'],
		...[
			'GET /{{N}}?deleted=only',
			'GET ?deleted=only',
			'GET ?deleted=only&sort=-title&count=exact',
			'GET ?mother.status=draft',
		],
	)
	.chain((request) => early.map((one) => request.replace('{{N}}', one).split(' ')))
	.map(
		([method = '', rest = '']): Step => ({
			...{ method, url: `/kept${rest}`, follows: false, body: undefined, headers: {} },
		}),
	)

/** All of these. */
export const anyMore = fc.oneof(
	{ weight: 3, arbitrary: batches },
	{ weight: 3, arbitrary: totals },
	{ weight: 2, arbitrary: kept },
)
