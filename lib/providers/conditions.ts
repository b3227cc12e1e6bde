/** Converts react-admin's filters to the conditions of a list, for `react-admin.ts`; and conditions on related records. */
import { OPERATORS } from '../wire/list.ts'
import type { Conditions } from './resources.ts'

const OPERATOR_NAMES: ReadonlySet<string> = new Set(OPERATORS)
const SUFFIX = new RegExp(`^(.+)[._](${OPERATORS.join('|')})$`)
/** Conditions on a to-many relation. */
const QUANTIFIERS: ReadonlySet<string> = new Set(['some', 'none', 'every', 'count'])

/**
 * Converts a filter. The name of an input may have an operator or a related record's field after a dot, which react-admin
 * turns into a nested object (but not in permanent filters), or an operator after an underscore, as for other servers. Empty
 * values are left out; `q` is the search.
 *
 *     { status: 'draft', created: { gte: '2026-01-01' }, views_lt: 9, author: { name: 'Ada' }, note: '' }
 *     { status: 'draft', created: { gte: '2026-01-01' }, views: { lt: 9 }, 'author.name': 'Ada' }
 */
export function conditionsOf({ q, ...others }: Readonly<Record<string, unknown>>): Conditions {
	if (typeof q !== 'string') return comparisonsOf(q === undefined ? others : { q, ...others })
	return { ...comparisonsOf(others), search: q === '' ? undefined : q }
}

function comparisonsOf(filter: Readonly<Record<string, unknown>>): Conditions {
	const where: Record<string, unknown> = {}
	const others: Record<string, unknown>[] = []
	for (const [name, match] of matchesOf(filter, '')) {
		const known = Object.hasOwn(where, name) ? operatorsOf(where[name]) : {}
		const operators = operatorsOf(match)
		// null as JSON: the name may be a relation's, whose null can't be a URL parameter.
		const isJson = hasOnly(match, QUANTIFIERS) || (match === null && !name.includes('.'))
		// Two conditions with the same operator must both hold.
		if (isJson || Object.keys(operators).some((operator) => Object.hasOwn(known, operator)))
			others.push(conditionAt(name, isJson ? match : operators))
		else where[name] = Object.keys(known).length === 0 ? match : { ...known, ...operators }
	}
	const [first, ...more] = others
	if (first === undefined) return { where }
	return { where, filter: more.length === 0 ? first : { and: others } }
}

function* matchesOf(filter: object, prefix: string): Generator<[name: string, match: unknown]> {
	for (const [name, value] of Object.entries(filter)) {
		const path = prefix + name
		if (value === undefined || value === '') continue
		// With operators in an object, the name may itself end like one: { checked_in: { eq: 5 } }.
		if (hasOnly(value, OPERATOR_NAMES) || hasOnly(value, QUANTIFIERS)) yield [path, value]
		else if (isObject(value)) yield* matchesOf(value, `${path}.`)
		else {
			const [, field = path, operator] = SUFFIX.exec(path) ?? []
			yield [field, operator === undefined ? value : { [operator]: value }]
		}
	}
}

function operatorsOf(match: unknown): object {
	if (isObject(match)) return match
	return Array.isArray(match) ? { in: match } : { eq: match }
}

/** `{ author: { name: match } }` for `author.name`; negated `{ author: { not: { name: match } } }`. */
export function conditionAt(name: string, match: unknown, isNegated = false): Record<string, unknown> {
	const [first = name, ...rest] = name.split('.')
	if (rest.length > 0) return { [first]: conditionAt(rest.join('.'), match, isNegated) }
	return isNegated ? { not: { [first]: match } } : { [first]: match }
}

function hasOnly(match: unknown, names: ReadonlySet<string>): match is object {
	if (!isObject(match)) return false
	const own = Object.keys(match)
	return own.length > 0 && own.every((name) => names.has(name))
}

function isObject(match: unknown): match is object {
	return typeof match === 'object' && match !== null && !Array.isArray(match) && !(match instanceof Date)
}
