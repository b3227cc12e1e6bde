/** Bodies of `POST …/batch` for fast-check: see `batch.ts`. */
import fc from 'fast-check'
import type { Batch, BatchEnd, BatchStep } from './batch.ts'

const word = fc.constantFrom('Ada', 'ada', 'Bob', '', "it's")
const small = fc.integer({ min: 1, max: 6 })
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 4 })
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 3 })
/** Mostly of records that are there. */
const id: fc.Arbitrary<number> = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 2, 3, 7)
/** Mostly of records that only batches create. */
const own: fc.Arbitrary<number> = fc.constantFrom(7, 7, 8, 8, 9, 1)
const pairOf = fc.tuple(id, small)

const change = fc.record({ title: word, editorId: orNull(id), score: orNull(small) }, { requiredKeys: [] })
const comment = fc.record(
	{ articleId: id, n: fc.integer({ min: 1, max: 12 }), text: word, authorId: orNull(id), score: small },
	{ requiredKeys: ['articleId', 'n'] },
)
const remark = fc.record({ text: word, score: orNull(small) }, { requiredKeys: [] })

const call = (
	of: 'articles' | 'comments',
	does: string,
	...given: readonly fc.Arbitrary<unknown>[]
): fc.Arbitrary<BatchStep> =>
	// The operations below.
	fc.tuple(...given).map((all) => ({ of, does, with: all }) as BatchStep)

const made = (of: 'article' | 'person' | 'tie', values: fc.Arbitrary<unknown>): fc.Arbitrary<BatchStep> =>
	values.map((all) => ({ of, does: 'create', values: all }) as BatchStep) // by the columns of the table
const gone = (of: 'article' | 'person' | 'tie', key: fc.Arbitrary<string>): fc.Arbitrary<BatchStep> =>
	key.map((one) => ({ of, does: 'delete', id: one }))

const isIn = (field: string, one = id) => few(one).map((values) => ({ op: 'in', field, values }))
const totals = (by: string, of: string) =>
	fc.constant({
		by: [{ name: by, field: by }],
		totals: [{ op: 'count' }, { op: 'sum', field: of, name: of }],
	})
const operation: fc.Arbitrary<BatchStep> = fc.oneof(
	{ weight: 3, arbitrary: call('articles', 'update', id, change) },
	{
		weight: 2,
		arbitrary: call(
			'articles',
			'updateMany',
			fc
				.uniqueArray(fc.tuple(id, change), { minLength: 1, maxLength: 3, selector: ([one]) => one })
				.map((all) => all.map(([one, some]) => ({ ...some, id: one }))),
		),
	},
	{ weight: 1, arbitrary: call('articles', 'remove', own) },
	{ weight: 1, arbitrary: call('articles', 'removeMany', isIn('id', own)) },
	{ weight: 1, arbitrary: call('articles', 'read', id) },
	{ weight: 1, arbitrary: call('articles', 'totals', totals('title', 'score')) },
	{ weight: 3, arbitrary: call('comments', 'create', comment) },
	{ weight: 2, arbitrary: call('comments', 'createMany', few(comment)) },
	{ weight: 2, arbitrary: call('comments', 'upsert', few(comment), fc.constant(['articleId', 'n'])) },
	{ weight: 1, arbitrary: call('comments', 'update', pairOf, remark) },
	{ weight: 1, arbitrary: call('comments', 'remove', pairOf) },
	{ weight: 2, arbitrary: call('comments', 'removeMany', isIn('article_id')) },
	{ weight: 1, arbitrary: call('comments', 'totals', totals('n', 'score')) },
	{
		weight: 2,
		arbitrary: made(
			'article',
			fc.record(
				{
					id: own,
					title: word,
					author_id: id,
					editor_id: orNull(id),
					score: orNull(small),
					done: fc.boolean(),
				},
				{ requiredKeys: ['id', 'title', 'author_id'] },
			),
		),
	},
	{
		weight: 2,
		arbitrary: made(
			'person',
			fc.record({ id: own, name: orNull(word), team: fc.constantFrom('red', 'blue') }),
		),
	},
	{ weight: 2, arbitrary: made('tie', fc.record({ article_id: id, tag_id: id, note: orNull(word) })) },
	{ weight: 1, arbitrary: gone('article', own.map(String)) },
	{ weight: 1, arbitrary: gone('person', own.map(String)) },
	{ weight: 1, arbitrary: gone('tie', fc.tuple(id, id).map(String)) },
	{ weight: 4, arbitrary: fc.constant({ does: 'list' } as const) },
)
const ends = fc.constantFrom<BatchEnd>('commit', 'commit', 'commit', 'throw')
const nestOf = (one: fc.Arbitrary<BatchStep>): fc.Arbitrary<BatchStep> =>
	fc.record({ does: fc.constant('nest' as const), steps: few(one), ends })
const nested = nestOf(
	fc.oneof({ weight: 5, arbitrary: operation }, { weight: 1, arbitrary: nestOf(operation) }),
)

export const anyBatch: fc.Arbitrary<Batch> = fc.record({
	over: fc.subarray(['articles', 'comments', 'article', 'person', 'tie'] as const),
	steps: fc.array(fc.oneof({ weight: 1, arbitrary: operation }, { weight: 1, arbitrary: nested }), {
		minLength: 1,
		maxLength: 5,
	}),
	ends: fc.oneof({ weight: 7, arbitrary: ends }, { weight: 1, arbitrary: fc.constant('error' as const) }),
})
