/** The model contract: totals of groups. Its cases check models that implement `totals`. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { TimePart, Total, TotalsKey, TotalsOrder, TotalsQuery, Value } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { type ModelFixture, type ModelTest, tests } from './fixture.ts'
import type { RelatedFixture, RelationTest } from './related-models.ts'

/** A query whose members all have defaults here. */
export type Asked = Partial<TotalsQuery>

/** The JSON of totals, sorted by their keys unless another order is given; `undefined` if the model has none. */
export async function textOf(
	{ model }: Pick<ModelFixture, 'model'>,
	asked: Asked,
): Promise<string | undefined> {
	if (model.totals === undefined) return undefined
	const { by = [] } = asked
	const order = by.map((_, key): TotalsOrder => ({ key, descending: false }))
	const { json, groups } = await model.totals({
		...{ by, totals: [], where: undefined, having: undefined, order, limit: 100, timeZone: 'UTC' },
		...asked,
	})
	strictEqual((JSON.parse(json) as unknown[]).length, groups, 'the number of groups is that of the JSON')
	return json
}

/** Asserts what the totals are, as JSON. */
export async function gives(
	fixture: ModelFixture,
	asked: Asked,
	expected: readonly unknown[],
): Promise<void> {
	const json = await textOf(fixture, asked)
	if (json !== undefined) deepStrictEqual(JSON.parse(json), expected)
}

export const key = (name: string, part?: TimePart): TotalsKey => ({ name, field: name, part })
export const count: Total = { op: 'count' }
export const sum = (field: string): Total => ({ op: 'sum', field, name: field })
export const avg = (field: string): Total => ({ op: 'avg', field, name: field })
export const min = (field: string): Total => ({ op: 'min', field, name: field })
export const max = (field: string): Total => ({ op: 'max', field, name: field })

const NOTES: readonly Readonly<Record<string, Value>>[] = [
	{ title: 'a', note: 'x', order: 1 },
	{ title: 'b', note: 'y', order: 5 },
	{ title: 'c', note: 'x', order: -4 },
	{ title: 'd', note: null, order: 2 },
	{ title: 'e', note: 'x', order: null },
	{ title: 'f', note: 'z', order: null },
]

const COUNTED: Asked = { by: [key('note')], totals: [count, sum('order')] }
const X = { note: 'x', count: 3, sum: { order: -3 } }
const Y = { note: 'y', count: 1, sum: { order: 5 } }
const Z = { note: 'z', count: 1, sum: { order: null } }
const NONE = { note: null, count: 1, sum: { order: 2 } }

export const TOTALS_TESTS: readonly ModelTest[] = [
	...tests({
		async 'totals group by a field, nulls too, and ignore nulls in sums'(fixture) {
			await fixture.addAll(NOTES)
			await gives(fixture, COUNTED, [X, Y, Z, NONE])
			const where = { op: 'eq', field: 'title', value: 'c' } as const
			await gives(fixture, { ...COUNTED, where }, [{ note: 'x', count: 1, sum: { order: -4 } }])
			await gives(fixture, { ...COUNTED, where: { op: 'or', terms: [] } }, [])
		},
		async 'totals without keys are one group, also without records'(fixture) {
			const totals = [count, sum('order'), avg('order'), min('order'), max('order')]
			const nothing = { order: null }
			await gives(fixture, { totals }, [{ count: 0, sum: nothing, avg: nothing, min: nothing, max: nothing }])
			await fixture.addAll(NOTES)
			await gives(fixture, { totals }, [
				{ count: 6, sum: { order: 4 }, avg: { order: '1.000000' }, min: { order: -4 }, max: { order: 5 } },
			])
		},
		async 'the JSON of totals has its keys in order, under the given names'(fixture) {
			await fixture.addAll(NOTES.slice(0, 1))
			const by = [{ name: 'second "key"', field: 'note' }, key('title')]
			const totals: Total[] = [
				...[count, max('order')],
				{ op: 'min', field: 'order', name: 'least' },
				{ op: 'min', field: 'title', name: 'first' },
			]
			const json = await textOf(fixture, { by, totals })
			if (json !== undefined)
				strictEqual(
					json.replaceAll(/\s/g, ''),
					'[{"second\\"key\\"":"x","title":"a","count":1,"max":{"order":1},"min":{"least":1,"first":"a"}}]',
				)
		},
		async 'totals are sorted by keys and totals, nulls last both ways, and limited'(fixture) {
			await fixture.addAll(NOTES)
			const sorted = async (order: readonly TotalsOrder[], expected: readonly unknown[], limit = 100) =>
				gives(fixture, { ...COUNTED, order, limit }, expected)
			const byNote = { key: 0, descending: false }
			await sorted([{ key: 0, descending: true }], [Z, Y, X, NONE])
			await sorted([{ total: 1, descending: true }, byNote], [Y, NONE, X, Z])
			await sorted([{ total: 1, descending: false }, byNote], [X, NONE, Y, Z])
			await sorted(
				[
					{ total: 0, descending: true },
					{ key: 0, descending: true },
				],
				[X, Z, Y, NONE],
			)
			await sorted([{ total: 1, descending: true }, byNote], [Y, NONE], 2)
			await sorted([byNote], [X], 1)
		},
		async 'having finds groups by their totals, with three-valued logic'(fixture) {
			await fixture.addAll(NOTES)
			const finds = (having: TotalsQuery['having'], expected: readonly unknown[]) =>
				gives(fixture, { ...COUNTED, having }, expected)
			const compare = (op: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte', value: string) =>
				({ op, total: 1, value }) as const
			await finds({ op: 'gt', total: 0, value: 1 }, [X])
			await finds({ op: 'eq', total: 0, value: 1 }, [Y, Z, NONE])
			await finds(compare('eq', '5'), [Y])
			await finds(compare('eq', '5.00'), [Y])
			await finds(compare('ne', '5'), [X, NONE])
			await finds(compare('gte', '2'), [Y, NONE])
			await finds(compare('lt', '1.5'), [X])
			await finds(compare('lte', '2'), [X, NONE])
			await finds({ op: 'not', term: compare('gt', '2') }, [X, NONE])
			await finds({ op: 'null', total: 1, value: true }, [Z])
			await finds({ op: 'null', total: 1, value: false }, [X, Y, NONE])
			await finds({ op: 'or', terms: [compare('gt', '4'), { op: 'gt', total: 0, value: 2 }] }, [X, Y])
			await finds({ op: 'and', terms: [compare('gt', '1'), compare('lt', '5')] }, [NONE])
			await finds({ op: 'and', terms: [] }, [X, Y, Z, NONE])
			await finds({ op: 'or', terms: [] }, [])
		},
		async 'having and the limit apply to groups, not to records'(fixture) {
			await fixture.addAll(NOTES)
			const having = { op: 'lt', total: 0, value: 3 } as const
			await gives(fixture, { ...COUNTED, having, limit: 2 }, [Y, Z])
		},
		async 'min and max of texts are compared, and sorted by'(fixture) {
			await fixture.addAll(NOTES)
			const asked: Asked = { by: [key('order')], totals: [min('note'), max('title')] }
			const group = (order: number | null, note: string | null, title: string) => ({
				...{ order, min: { note }, max: { title } },
			})
			await gives(fixture, asked, [
				...[group(-4, 'x', 'c'), group(1, 'x', 'a'), group(2, null, 'd'), group(5, 'y', 'b')],
				group(null, 'x', 'f'),
			])
			const having = { op: 'gte', total: 1, value: 'd' } as const
			const order = [{ total: 1, descending: true }]
			await gives(fixture, { ...asked, having, order }, [group(null, 'x', 'f'), group(2, null, 'd')])
		},
		async 'averages of integers have six digits, and halves are rounded away from zero'(fixture) {
			await fixture.addAll([
				...[1, 1, 0].map((order) => ({ note: 'a', order })),
				...[-1, -1, 0].map((order) => ({ note: 'b', order })),
				...Array.from({ length: 64 }, (_, at) => ({ note: 'c', order: at === 0 ? 1 : 0 })),
				...Array.from({ length: 64 }, (_, at) => ({ note: 'd', order: at === 0 ? -3 : 0 })),
			])
			const texts = ['0.666667', '-0.666667', '0.015625', '-0.046875']
			await gives(
				fixture,
				{ by: [key('note')], totals: [avg('order')] },
				texts.map((order, at) => ({ note: 'abcd'.charAt(at), avg: { order } })),
			)
		},
		async 'totals in a transaction are of its records'(fixture) {
			if (fixture.model.totals === undefined) return
			await fixture.transaction(async (within) => {
				await within.add({ note: 'x' })
				await gives(within, { totals: [count] }, [{ count: 1 }])
			})
		},
		async 'totals that are larger than maxBytes are refused'(fixture) {
			if (fixture.model.totals === undefined) return
			await fixture.addAll(Array.from({ length: 20 }, (_, at) => ({ title: `${at} ${'x'.repeat(900)}` })))
			await rejects(
				async () => textOf(fixture, { by: [key('title')], maxBytes: 5_000 }),
				(error: unknown) => error instanceof ModelError && error.kind === 'too_large',
			)
			const json = await textOf(fixture, { by: [key('title')], maxBytes: 50_000 })
			ok(json?.includes('19 x'))
		},
	}),
]

export const RELATED_TOTALS_TESTS: readonly RelationTest[] = [
	{
		name: 'totals group by fields of related records that match a condition, and under null without one',
		async run({ models: { post }, links }: RelatedFixture) {
			const { author, boss } = links
			const shown = { op: 'ne', field: 'name', value: 'bob' } as const
			const ofAuthor = (where: TotalsQuery['where']): TotalsKey => ({
				...{ name: 'author.name', field: 'name', via: [{ link: author, where }] },
			})
			const ask = (by: readonly TotalsKey[]) => textOf({ model: post }, { by, totals: [count, sum('n')] })
			const json = await ask([ofAuthor(undefined)])
			if (json === undefined) return
			const group = (name: string | null, number: number, n: number) => ({
				...{ 'author.name': name, count: number, sum: { n } },
			})
			deepStrictEqual(JSON.parse(json), [group('ada', 4, 21), group('bob', 2, 15), group(null, 2, 5)])
			const scoped = JSON.parse((await ask([ofAuthor(shown)])) ?? '')
			deepStrictEqual(scoped, [group('ada', 4, 21), group(null, 4, 20)])
			const via = [
				{ link: author, where: undefined },
				{ link: boss, where: undefined },
			]
			const bosses = await ask([{ name: 'author.boss.name', field: 'name', via }])
			deepStrictEqual(JSON.parse(bosses ?? ''), [
				{ 'author.boss.name': 'ada', count: 3, sum: { n: 15 } },
				{ 'author.boss.name': null, count: 5, sum: { n: 26 } },
			])
		},
	},
	{
		name: 'totals count records that are found by their related ones once',
		async run({ models: { person }, links: { posts, editors } }: RelatedFixture) {
			const where = { op: 'some', link: posts, where: undefined } as const
			const json = await textOf({ model: person }, { totals: [count, min('id')], where })
			if (json === undefined) return
			deepStrictEqual(JSON.parse(json), [{ count: 3, min: { id: 1 } }])
			const edited = { op: 'count', link: editors, where: undefined, compare: 'gte', value: 1 } as const
			const names = await textOf({ model: person }, { by: [key('id')], where: edited })
			deepStrictEqual(JSON.parse(names ?? ''), [{ id: 1 }, { id: 2 }, { id: 3 }])
		},
	},
]
