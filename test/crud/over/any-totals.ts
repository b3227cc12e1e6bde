/**
 * Queries for totals of the records of `stores.ts` for fast-check, most of them valid, with the option that they need. Used by
 * `totals.ts`, and by `any-batch.ts` for totals between other requests.
 */
import fc from 'fast-check'
import type { CrudOptions } from '../../../lib/index.ts'

/**
 * `mother` is the relation by `parent`. Nothing is grouped or filtered by a price: SQLite compares decimals, which are texts
 * there, as texts.
 */
export const TOTALS: NonNullable<CrudOptions['totals']> = {
	by: [
		...['status', 'note', 'rank', 'ratio', 'price', 'done', 'day', 'at', 'stock', 'clock', 'token', 'code'],
		...['mother.status', 'mother.at', 'mother.mother.done'],
	],
	of: ['rank', 'ratio', 'price', 'stock', 'note', 'day', 'at', 'clock'],
	maxGroups: 9,
}

/** Whose rules have not changed lately: PostgreSQL and Node have releases of the IANA's data of their own. */
const WESTERN_ZONES = ['UTC', 'America/St_Johns', 'America/Los_Angeles']
const ZONES = [...WESTERN_ZONES, 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe']

const PARTS = ['year', 'quarter', 'month', 'week', 'day']
const keys = fc.oneof(
	fc.constantFrom(...['status', 'note', 'rank', 'ratio', 'done', 'day', 'at', 'stock', 'clock', 'token']),
	fc.constantFrom('mother.status', 'mother.mother.done', 'mother.at', 'mother.at:month'),
	fc.constantFrom(...PARTS, 'hour').map((part) => `at:${part}`),
	fc.constantFrom(...PARTS).map((part) => `day:${part}`),
	fc.constantFrom('nothing', 'owner', 'note:year'),
)
const ordered = fc.constantFrom('rank', 'ratio', 'price', 'stock', 'note', 'day', 'at', 'clock')
const FILTERS = [
	'',
	'status=public',
	'rank[gt]=0',
	'mother.status=draft',
	'search=a',
	'note[null]=true',
	'id=0',
]
const OPERANDS: Readonly<Record<string, readonly unknown[]>> = {
	note: ['x', 'Y', 'a'],
	day: ['2026-11-20', '2000-01-01'],
	at: ['2026-03-29T01:00:00Z', '2000-01-01T00:00:00Z'],
	clock: ['09:59:59', '12:00:00'],
	ratio: [0, 1.5, -2.25],
	other: [0, 1, '2', -3, '100.00'],
}

interface Asked {
	readonly by: readonly string[]
	readonly totals: readonly string[]
	readonly more: string
}

const having = (names: readonly string[]): fc.Arbitrary<unknown> => {
	const leaf = fc.constantFrom(...names, 'count').chain((name) => {
		const field = name.split('.')[1] ?? ''
		const values =
			/^(?:min|max)/.test(name) || field === 'ratio' ? (OPERANDS[field] ?? [0, 1, 2]) : OPERANDS.other
		const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte']
		return fc.oneof(
			fc
				.tuple(fc.constantFrom(...operators), fc.constantFrom(...(values ?? [])))
				.map(([op, value]): unknown => ({ [name]: { [op]: value } })),
			fc.constant<unknown>({ [name]: null }),
		)
	})
	return fc.oneof(
		leaf,
		leaf.map((term) => ({ not: term })),
		fc
			.tuple(fc.constantFrom('and', 'or'), fc.array(leaf, { maxLength: 2 }))
			.map(([op, terms]) => ({ [op]: terms })),
	)
}

/** Limits of the totals of some records. */
interface Limits {
	/** The fields that may have sums and averages. */
	readonly added: readonly string[]
	/** Whether there are times in the last hours of 9999: in zones east of UTC, MariaDB and SQLite have no later ones. */
	readonly isLate: boolean
}

/** `?…` of totals. */
export function anyTotals({ added, isLate }: Limits): fc.Arbitrary<string> {
	const totals = fc.uniqueArray(
		fc.oneof(
			fc.constant('count'),
			fc.tuple(fc.constantFrom('sum', 'avg'), fc.constantFrom(...added)).map((pair) => pair.join('.')),
			fc.tuple(fc.constantFrom('min', 'max'), ordered).map((pair) => pair.join('.')),
		),
		{ maxLength: 5 },
	)
	return fc
		.tuple(fc.uniqueArray(keys, { maxLength: 3, selector: (key) => key.split(':')[0] }), totals)
		.chain(([by, wanted]) => asked(by, wanted, isLate ? WESTERN_ZONES : ZONES))
		.map(queryOf)
}

function asked(
	by: readonly string[],
	totals: readonly string[],
	zones: readonly string[],
): fc.Arbitrary<Asked> {
	const names = [...by.map((key) => key.split(':')[0] ?? ''), ...totals]
	const sort = fc
		.uniqueArray(fc.constantFrom(...names, 'count'), { maxLength: 3 })
		.chain((terms) => fc.tuple(...terms.map((term) => fc.constantFrom(term, `-${term}`))))
	return fc
		.record({
			tz: fc.constantFrom(...zones),
			sort,
			having: fc.option(having(totals)),
			limit: fc.option(fc.constantFrom(1, 3, 9, 10)),
			filter: fc.constantFrom(...FILTERS),
		})
		.map(({ tz, sort: order, having: condition, limit, filter }) => {
			const more = [
				...(tz === 'UTC' ? [] : [`tz=${tz}`]),
				...(order.length === 0 ? [] : [`sort=${order.join()}`]),
				...(condition === null ? [] : [`having=${encodeURIComponent(JSON.stringify(condition))}`]),
				...(limit === null ? [] : [`limit=${limit}`]),
				...(filter === '' ? [] : [filter]),
			]
			return { by, totals, more: more.join('&') }
		})
}

function queryOf({ by, totals: wanted, more }: Asked): string {
	const of = (op: string) => {
		const names = wanted.filter((name) => name.startsWith(`${op}.`)).map((name) => name.slice(op.length + 1))
		return names.length === 0 ? [] : [`${op}=${names.join()}`]
	}
	const parameters = [
		...(by.length === 0 ? [] : [`by=${by.join()}`]),
		...(wanted.includes('count') ? ['count=exact'] : []),
		...['sum', 'avg', 'min', 'max'].flatMap(of),
		...(more === '' ? [] : [more]),
	]
	return `?${parameters.join('&')}`
}
