/** `TotalsPlan`: the keys and fields of a handler's totals. Checked when it is mounted, because relations are resolved by then. */
import { attached } from '../../base/attached.ts'
import { nearest } from '../../base/options.ts'
import type { FieldType, TimePart, TotalsKey } from '../../models/model.ts'
import { TOTALS_PARAMETERS as PARAMETERS } from '../../wire/list.ts'
import { isOrdered } from '../check-fields.ts'
import type { CrudField, FieldMap } from '../fields.ts'
import type { CrudPlan, Relation } from '../plan.ts'

/** What totals may be grouped by. */
export interface GroupKey {
	/** `status`, `author.name` */
	readonly name: string
	readonly field: CrudField['field']
	readonly via: TotalsKey['via']
	/** Parts of its times; none for other types. */
	readonly parts: readonly TimePart[]
}

export interface TotalsPlan {
	readonly keys: ReadonlyMap<string, GroupKey>
	/** The fields that each function can be applied to. */
	readonly of: Readonly<Record<TotalFunction, FieldMap>>
	readonly maxGroups: number
	/** The parameters that aren't conditions. */
	readonly parameters: readonly string[]
}

export const FUNCTIONS = ['sum', 'avg', 'min', 'max'] as const

export type TotalFunction = (typeof FUNCTIONS)[number]

const DATE_PARTS: readonly TimePart[] = ['year', 'quarter', 'month', 'week', 'day']

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'decimal'])

const PLAN: unique symbol = Symbol('verbena.totalsPlan')

/** For a handler without the option, whose own code may still call `totals()`: clients can name nothing. */
const NONE = { by: [], of: [], maxGroups: 1_000 }

/**
 * Checks the option when a handler is mounted.
 *
 * @throws TypeError for a field that is unknown, hidden, or of another type, for one named like a total, and if the model has no
 *   totals
 */
export function checkTotals(plan: CrudPlan): void {
	const { owner, model, totals, allow } = plan
	if (allow.has('totals') && model.totals === undefined)
		throw new TypeError(`${owner}: allow has totals, but the model of ${model.name} has no totals()`)
	if (allow.has('totals') && totals === undefined)
		throw new TypeError(
			`${owner}: allow has totals, but there is no option totals: { by: ['status'], of: ['amount'] }`,
		)
	for (const name of totals?.by ?? []) checkKey(plan, name)
	for (const name of totals?.of ?? []) {
		const { field } = ownField(plan, 'of', name)
		if (hasExtremes(field.type)) continue
		throw new TypeError(
			`${owner}: totals.of: ${name} is of type ${field.type}, which has neither a sum nor a minimum`,
		)
	}
}

/** The totals of a checked plan. If `fields()` hides some of their fields from a request, they are left out. */
export function totalsPlan(plan: CrudPlan): TotalsPlan {
	return attached(plan, PLAN, () => {
		const { by, of: names, maxGroups } = plan.totals ?? NONE
		const keys = by.flatMap((name) => keyFound(plan, name) ?? [])
		const of = names.flatMap((name) => plan.visible.get(name) ?? [])
		const pick = (holds: (type: FieldType) => boolean): FieldMap =>
			new Map(of.filter(({ field }) => holds(field.type)).map((field) => [field.name, field]))
		const [numbers, ordered] = [pick((type) => NUMBERS.has(type)), pick(hasExtremes)]
		return {
			keys: new Map(keys.map((key) => [key.name, key])),
			of: { sum: numbers, avg: numbers, min: ordered, max: ordered },
			maxGroups,
			parameters: PARAMETERS.filter((name) => name !== 'search' || plan.searchable.size > 0),
		}
	})
}

function hasExtremes(type: FieldType): boolean {
	return isOrdered(type) && type !== 'boolean' && type !== 'uuid'
}

/** @throws TypeError for one that is unknown or hidden */
function ownField({ owner, visible }: CrudPlan, option: string, name: string): CrudField {
	const field = visible.get(name)
	if (field !== undefined) return field
	throw new TypeError(
		`${owner}: totals.${option}: ${name} is not one of the visible fields${nearest(name, visible.keys())}`,
	)
}

/** @throws TypeError for a key that can't be grouped by */
function checkKey(plan: CrudPlan, name: string): void {
	const { owner } = plan
	const [first = ''] = name.split('.')
	if (first === 'count' || FUNCTIONS.some((one) => one === first))
		throw new TypeError(`${owner}: totals.by: ${first} is the name of a total: rename it with columns`)
	const { from, rest, via, wrong } = wayTo(plan, name)
	if (wrong !== undefined)
		throw new TypeError(
			`${owner}: totals.by: ${name} leads through ${wrong.name}, ${wrong.isJoined ? 'which has many records' : "whose records can't be joined"}`,
		)
	if (via.length > plan.includeDepth)
		throw new TypeError(
			`${owner}: totals.by: ${name} leads through ${via.length} relations, and includeDepth is ${plan.includeDepth}: raise it`,
		)
	const { field } = via.length === 0 ? ownField(plan, 'by', name) : relatedField(plan, from, name, rest)
	if (!isOrdered(field.type))
		throw new TypeError(
			`${owner}: totals.by: ${name} is of type ${field.type}, whose values can't be grouped`,
		)
}

/** The key of a name that was checked; `undefined` if a request doesn't have its field. */
function keyFound(plan: CrudPlan, name: string): GroupKey | undefined {
	const { from, rest, via } = wayTo(plan, name)
	const field = (via.length === 0 ? from.visible : from.filterable).get(rest)?.field
	if (field === undefined) return undefined
	const parts: readonly TimePart[] =
		field.type === 'timestamp' ? [...DATE_PARTS, 'hour'] : field.type === 'date' ? DATE_PARTS : []
	return { name, field, via: via.length === 0 ? undefined : via, parts }
}

/** Where a name such as `author.name` leads. */
interface Way {
	readonly from: CrudPlan
	/** The name there. */
	readonly rest: string
	readonly via: NonNullable<TotalsKey['via']>
	/** A relation that totals can't use. */
	readonly wrong: Relation | undefined
}

function wayTo(plan: CrudPlan, name: string): Way {
	const via: NonNullable<TotalsKey['via']>[number][] = []
	let [from, rest] = [plan, name]
	while (!from.visible.has(rest)) {
		const end = rest.indexOf('.')
		const relation = end === -1 ? undefined : from.relations.get(rest.slice(0, end))
		if (relation === undefined) break
		if (!relation.isJoined || relation.link.isMany) return { from, rest, via, wrong: relation }
		via.push({ link: relation.link, where: undefined })
		rest = rest.slice(end + 1)
		from = relation.to
	}
	return { from, rest, via, wrong: undefined }
}

function relatedField({ owner }: CrudPlan, to: CrudPlan, name: string, field: string): CrudField {
	const found = to.filterable.get(field)
	if (found !== undefined) return found
	throw new TypeError(
		`${owner}: totals.by: ${name}: ${to.owner} has no such field that is visible and filterable${nearest(field, to.filterable.keys())}`,
	)
}

/** The names that `by` takes, with the parts of times: `created:year`. */
export function keyNames(keys: TotalsPlan['keys']): string[] {
	return [...keys.values()].flatMap(({ name, parts }) => [name, ...parts.map((part) => `${name}:${part}`)])
}
