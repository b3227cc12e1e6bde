/** Converts refine's filters to the conditions of a list, for `refine.ts`. */
import { conditionAt } from './conditions.ts'
import type { Conditions } from './resources.ts'

/** A filter of refine: a comparison, or several filters joined by `and` or `or`. */
export interface CrudFilter {
	readonly field?: string
	readonly operator: string
	readonly value: unknown
}

type Condition = Readonly<Record<string, unknown>>

/** The server's operator for each of refine's, without those that `NEGATED` matches. */
const OPERATORS: Readonly<Record<string, string>> = {
	...{
		eq: 'eq',
		eqs: 'eq',
		ne: 'ne',
		nes: 'ne',
		lt: 'lt',
		gt: 'gt',
		lte: 'lte',
		gte: 'gte',
		in: 'in',
		nin: 'nin',
	},
	// refine's operators for texts ignore case unless they end with `s`.
	...{ contains: 'icontains', startswith: 'istartsWith', endswith: 'iendsWith' },
	...{ containss: 'contains', startswiths: 'startsWith', endswiths: 'endsWith' },
	between: 'between',
}
const NEGATED = /^n(contains|startswith|endswith)(s?)$|^n(between)$/
/** Operators for a part of a text. Every text contains the empty one, so that is no condition. */
const PARTS = /^n?(?:contains|startswith|endswith)s?$/
const SEARCH = 'q'

/**
 * Converts filters, all of which must hold. The field `q` is the search; a filter whose value is undefined is left out.
 *
 *     [{ field: 'views', operator: 'gte', value: 9 }, { field: 'q', operator: 'contains', value: 'tea' }]
 *     { where: { views: { gte: 9 } }, search: 'tea' }
 *
 * @param own a filter in the server's form, for what refine's filters can't express
 * @throws TypeError for an operator that the server doesn't have
 */
export function conditionsOf(filters: readonly CrudFilter[], own: Condition | undefined): Conditions {
	const where: Record<string, Condition> = {}
	const others: Condition[] = own === undefined ? [] : [own]
	const words: string[] = []
	for (const filter of filters) {
		const { field, operator, value } = filter
		const match = isGroup(filter) ? undefined : matchOf(filter)
		if (field === SEARCH && /^(?:eq|contains)$/.test(operator)) words.push(...wordsIn(value))
		else if (match === null || match === undefined || field === undefined || field in where || 'not' in match)
			others.push(...jsonOf(filter))
		else where[field] = match
	}
	return {
		where,
		...(others.length === 0 ? {} : { filter: others.length === 1 ? others[0] : { and: others } }),
		...(words.length === 0 ? {} : { search: words.join(' ') }),
	}
}

/** A filter in the server's JSON form, which can express all of them; empty for no condition. */
function jsonOf(filter: CrudFilter): Condition[] {
	if (isGroup(filter)) {
		const all = filter.value.flatMap(jsonOf)
		return all.length === 0 ? [] : [{ [filter.operator]: all }]
	}
	const { field = '' } = filter
	const match = matchOf(filter)
	if (match === undefined) return []
	// The negation is within the related record: `{ author: { not: { name: { icontains: 'a' } } } }`.
	if (match !== null && 'not' in match) return [conditionAt(field, match.not, true)]
	return [conditionAt(field, match, false)]
}

/** null, operators, or `{ not: … }` with one of these; undefined for no condition. @throws TypeError for an unknown operator */
function matchOf({ field, operator, value }: CrudFilter): Condition | null | undefined {
	if (operator === 'null') return null
	if (operator === 'nnull') return { not: null }
	if (value === undefined || (value === '' && PARTS.test(operator))) return undefined
	const [, part, ending = '', between] = NEGATED.exec(operator) ?? []
	const name = part === undefined ? (between ?? operator) : part + ending
	const known = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined
	if (known === undefined)
		throw new TypeError(
			`the filter of ${field} has the operator ${operator}: there are ${Object.keys(OPERATORS).join(', ')}, ncontains and the like, nbetween, null, nnull, and, or`,
		)
	if (value === null && known === 'eq') return null
	if (value === null && known === 'ne') return { not: null }
	return name === operator ? { [known]: value } : { not: { [known]: value } }
}

function isGroup(filter: CrudFilter): filter is CrudFilter & { readonly value: readonly CrudFilter[] } {
	return /^(?:and|or)$/.test(filter.operator) && Array.isArray(filter.value)
}

function wordsIn(value: unknown): string[] {
	return value === undefined || value === null || value === '' ? [] : [String(value)]
}
