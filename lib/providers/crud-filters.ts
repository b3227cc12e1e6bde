/** From refine's filters to the conditions of a list, for `refine.ts`. */
import { conditionAt } from './conditions.ts'
import type { Conditions } from './resources.ts'

/** A filter of refine: a comparison, or several of which all or some must hold. */
export interface CrudFilter {
	readonly field?: string
	readonly operator: string
	readonly value: unknown
}

type Condition = Readonly<Record<string, unknown>>

/** How the server says each of refine's comparisons; `n` before a name is what the name without it doesn't match. */
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
	// Without `s` at their end, they ignore case.
	...{ contains: 'icontains', startswith: 'istartsWith', endswith: 'iendsWith' },
	...{ containss: 'contains', startswiths: 'startsWith', endswiths: 'endsWith' },
	between: 'between',
}
const NEGATED = /^n(contains|startswith|endswith)(s?)$|^n(between)$/
/** Of texts: a part that is empty is in all of them. */
const PARTS = /^n?(?:contains|startswith|endswith)s?$/
const SEARCH = 'q'

/**
 * Conditions that must all hold. The field `q` is the search; a value that is undefined is no condition.
 *
 *     [{ field: 'views', operator: 'gte', value: 9 }, { field: 'q', operator: 'contains', value: 'tea' }]
 *     { where: { views: { gte: 9 } }, search: 'tea' }
 *
 * @param own a filter as the server takes it, for what refine's filters can't say
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

/** The same in JSON, which says everything. Empty for no condition. */
function jsonOf(filter: CrudFilter): Condition[] {
	if (isGroup(filter)) {
		const all = filter.value.flatMap(jsonOf)
		return all.length === 0 ? [] : [{ [filter.operator]: all }]
	}
	const { field = '' } = filter
	const match = matchOf(filter)
	if (match === undefined) return []
	// What is not so is said within the related record: `{ author: { not: { name: { icontains: 'a' } } } }`.
	if (match !== null && 'not' in match) return [conditionAt(field, match.not, true)]
	return [conditionAt(field, match, false)]
}

/** null; operators; `{ not: … }` of these; undefined for no condition. @throws TypeError for others */
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
