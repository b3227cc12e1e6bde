/** Models whose totals each violate one promise, for the test of the model contract. */
import type { Total, Totaled, TotalsCondition, TotalsKey, TotalsQuery } from '../../lib/models/model.ts'
import { Passing } from './broken-models.ts'

type Group = Record<string, unknown>

/** Asks for other totals, or changes what they are. */
class Totaling extends Passing {
	readonly #asked: (query: TotalsQuery) => TotalsQuery
	readonly #told: (groups: Group[], query: TotalsQuery) => Group[]

	constructor(
		asked: (query: TotalsQuery) => TotalsQuery,
		told: (groups: Group[], query: TotalsQuery) => Group[] = (groups) => groups,
	) {
		super()
		this.#asked = asked
		this.#told = told
	}

	async totals(query: TotalsQuery): Promise<Totaled> {
		const found = await this.inner.totals?.(this.#asked(query))
		const groups = this.#told(JSON.parse(found?.json ?? '[]') as Group[], query)
		return { json: JSON.stringify(groups), groups: groups.length }
	}
}

const asking = (asked: (query: TotalsQuery) => TotalsQuery) => () => new Totaling(asked)
const telling = (told: (groups: Group[], query: TotalsQuery) => Group[]) => () =>
	new Totaling((query) => query, told)

const ofHaving =
	(change: (having: TotalsCondition) => TotalsCondition) =>
	(query: TotalsQuery): TotalsQuery => ({
		...query,
		having: query.having && everywhere(query.having, change),
	})

function everywhere(
	having: TotalsCondition,
	change: (having: TotalsCondition) => TotalsCondition,
): TotalsCondition {
	if ('term' in having) return change({ ...having, term: everywhere(having.term, change) })
	if ('terms' in having)
		return change({ ...having, terms: having.terms.map((term) => everywhere(term, change)) })
	return change(having)
}

const ofTotal = (change: (total: Total) => Total) =>
	asking((query) => ({ ...query, totals: query.totals.map(change) }))
const ofKey = (change: (key: TotalsKey) => TotalsKey) =>
	asking((query) => ({ ...query, by: query.by.map(change) }))

/** Changes the values of a function's totals. */
const ofValues = (op: string, change: (value: unknown) => unknown) =>
	telling((groups) =>
		groups.map((group) => {
			const values = group[op]
			if (typeof values !== 'object' || values === null) return group
			const entries = Object.entries(values).map(([name, value]) => [name, change(value)])
			return { ...group, [op]: Object.fromEntries(entries) }
		}),
	)

const GROUPS = 'totals group by a field, nulls too, and ignore nulls in sums'
const ALONE = 'totals without keys are one group, also without records'
const SORTED = 'totals are sorted by keys and totals, nulls last both ways, and limited'
const HAVING = 'having finds groups by their totals, with three-valued logic'
const AVERAGES = 'averages of integers have six digits, and halves are rounded away from zero'
const BIG = 'sums of bigints keep all digits, also beyond 64 bits'
const EXACT = 'sums and averages of decimals are exact'
const PARTS = 'parts of times are texts'

export const BROKEN_TOTALS: readonly (readonly [what: string, make: () => Passing, found: string])[] = [
	['totals records that do not match', asking((query) => ({ ...query, where: undefined })), GROUPS],
	['leaves out the group of null', telling((groups) => groups.filter(({ note }) => note !== null)), GROUPS],
	['sums nulls as zero', ofValues('sum', (value) => value ?? 0), GROUPS],
	['has no group without records', telling((groups) => groups.filter(({ count }) => count !== 0)), ALONE],
	[
		'makes averages of sums',
		ofTotal((total) => (total.op === 'avg' ? { ...total, op: 'sum' } : total)),
		ALONE,
	],
	[
		'takes the least for the greatest',
		ofTotal((total) => (total.op === 'max' ? { ...total, op: 'min' } : total)),
		ALONE,
	],
	[
		'names keys by their fields',
		ofKey((key) => ({ ...key, name: key.field })),
		'the JSON of totals has its keys in order, under the given names',
	],
	[
		'sorts the keys of its JSON',
		telling((groups) =>
			groups.map((group) =>
				Object.fromEntries(Object.entries(group).toSorted(([a], [b]) => (a < b ? -1 : 1))),
			),
		),
		'the JSON of totals has its keys in order, under the given names',
	],
	['sorts nulls first', telling((groups) => groups.toReversed()), SORTED],
	[
		'sorts no totals',
		asking((query) => ({ ...query, order: query.order.filter((term) => 'key' in term) })),
		SORTED,
	],
	['has no limit', asking((query) => ({ ...query, limit: 100 })), SORTED],
	['has no having', asking((query) => ({ ...query, having: undefined })), HAVING],
	['takes gte for gt', asking(ofHaving((one) => (one.op === 'gt' ? { ...one, op: 'gte' } : one))), HAVING],
	[
		'takes the unknown for false',
		asking(
			ofHaving((one) =>
				one.op === 'not' && 'total' in one.term
					? { op: 'or', terms: [one, { op: 'null', total: one.term.total, value: true }] }
					: one,
			),
		),
		HAVING,
	],
	[
		'compares totals as texts',
		asking(ofHaving((one) => ('value' in one && one.value === '5.00' ? { ...one, value: '5.01' } : one))),
		HAVING,
	],
	[
		'limits before having',
		telling((groups, { having, limit }) => (having === undefined ? groups : groups.slice(0, limit - 1))),
		'having and the limit apply to groups, not to records',
	],
	['rounds averages down', ofValues('avg', rounded), AVERAGES],
	[
		'writes averages as numbers',
		ofValues('avg', (value) => (value === null ? null : Number(value))),
		AVERAGES,
	],
	['sums bigints as doubles', telling((groups) => groups), BIG],
	['sums decimals as doubles', ofValues('sum', (value) => value && Number(value).toFixed(4)), EXACT],
	['writes decimals as numbers', ofValues('sum', (value) => value && Number(value)), EXACT],
	[
		'compares decimals as texts',
		telling((groups) => groups.map(({ min, max, ...group }) => ({ ...group, min: max, max: min }))),
		'min and max of decimals are compared as numbers',
	],
	['knows no parts of times', ofKey(({ part: _, ...key }) => key), PARTS],
	[
		'counts weeks from the first of January',
		telling((groups) => groups.map((group) => ({ ...group, at: String(group.at).replace('W53', 'W54') }))),
		PARTS,
	],
	[
		'knows no time zones',
		asking((query) => ({ ...query, timeZone: 'UTC' })),
		'parts of times are as clocks in Europe/Berlin show them',
	],
	[
		'knows only the present offset of a zone',
		asking((query) => ({ ...query, timeZone: query.timeZone === 'UTC' ? 'UTC' : 'Etc/GMT-1' })),
		'parts of times are as clocks in Europe/Berlin show them',
	],
	[
		'rounds offsets to hours',
		asking((query) => ({ ...query, timeZone: query.timeZone === 'UTC' ? 'UTC' : 'Asia/Karachi' })),
		'parts of times are as clocks in Asia/Kathmandu show them',
	],
	[
		'answers in any size',
		asking(({ maxBytes: _, ...query }) => query),
		'totals that are larger than maxBytes are refused',
	],
	[
		'miscounts its groups',
		() =>
			new (class extends Passing {
				async totals(query: TotalsQuery): Promise<Totaled> {
					const found = await this.inner.totals?.(query)
					return { json: found?.json ?? '[]', groups: (found?.groups ?? 0) + 1 }
				}
			})(),
		GROUPS,
	],
]

/** Cuts off the last digit, and makes it zero. */
function rounded(value: unknown): unknown {
	return typeof value === 'string' ? `${value.slice(0, -1)}0` : value
}
