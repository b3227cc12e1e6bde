/** What the URL of a list asks for, and the URLs that ask for something else. */
import type { ParameterShape } from '../../validate/schema/shape.ts'
import { plainText } from './fields.ts'
import { type JsonValue, RawNumber } from './json-value.ts'
import { pathOf } from './path.ts'

/** What a list can be asked. */
export interface ListOffers {
	readonly hasSearch: boolean
	readonly hasCount: boolean
	readonly hasLimit: boolean
	readonly sortable: ReadonlySet<string>
	/** By field, the operators; the empty one is plain equality. */
	readonly filters: ReadonlyMap<string, readonly string[]>
}

/** A condition of the query as it stands in the URL. */
export interface Condition {
	/** Its place among the query's pairs. */
	readonly at: number
	readonly field: string
	readonly operator: string
	readonly value: string
}

const OPERATOR_WORDS: Readonly<Record<string, string>> = {
	...{ '': '=', eq: '=', ne: '≠', gt: '>', gte: '≥', lt: '<', lte: '≤', in: 'is one of', nin: 'is none of' },
	...{ between: 'is between', contains: 'contains', startsWith: 'starts with', endsWith: 'ends with' },
	...{ ieq: '= (any case)', icontains: 'contains (any case)', istartsWith: 'starts with (any case)' },
	...{ iendsWith: 'ends with (any case)', null: 'is null' },
}

export function operatorWord(operator: string): string {
	return OPERATOR_WORDS[operator] ?? operator
}

export function offersOf(query: readonly ParameterShape[]): ListOffers {
	const filters = new Map<string, string[]>()
	for (const { name, role } of query) {
		if (role !== 'filter' || name === 'filter') continue
		const [field, operator] = partsOf(name)
		filters.set(field, [...(filters.get(field) ?? []), operator])
	}
	return {
		hasSearch: query.some(({ role }) => role === 'search'),
		hasCount: query.some(({ name }) => name === 'count'),
		hasLimit: query.some(({ name }) => name === 'limit'),
		sortable: sortableOf(query.find(({ role }) => role === 'sort')),
		filters,
	}
}

/** `title[contains]` is a field and an operator. */
export function partsOf(name: string): [field: string, operator: string] {
	const [, field = name, operator = ''] = /^(.*)\[(\w+)\]$/.exec(name) ?? []
	return [field, operator]
}

/** The fields that its schema names, with a minus or without. */
function sortableOf(parameter: ParameterShape | undefined): ReadonlySet<string> {
	const { schema } = parameter ?? {}
	const names = schema?.enum ?? schema?.items?.enum ?? []
	return new Set(names.map((name) => String(name).replace(/^-/, '')))
}

export function conditionsOf(url: string, { filters }: ListOffers): Condition[] {
	return pairsOf(url).flatMap(([name, value], at) => {
		const [field, operator] = partsOf(name)
		const isOffered = filters.get(field)?.includes(operator) === true
		return isOffered ? [{ at, field, operator, value }] : []
	})
}

/** The list from its beginning, with a condition more. */
export function withCondition(url: string, field: string, operator: string, value: string): string {
	const name = operator === '' ? field : `${field}[${operator}]`
	return changed(url, (pairs) => [...pairs, [name, value]])
}

/** The list from its beginning, without a condition. */
export function withoutPair(url: string, gone: number): string {
	return changed(url, (pairs) => pairs.filter((_, at) => at !== gone))
}

/** The list from its beginning, with a parameter; an empty value takes it away. */
export function withParameter(url: string, name: string, value: string): string {
	return changed(url, (pairs) => {
		const others = pairs.filter(([other]) => other !== name)
		return value === '' ? others : [...others, [name, value]]
	})
}

export function parameterOf(url: string, name: string): string {
	return pairsOf(url).findLast(([other]) => other === name)?.[1] ?? ''
}

/** By which field a list is sorted first, and how. */
export function sortOf(url: string): { field: string; isDescending: boolean } {
	const [first = ''] = parameterOf(url, 'sort').split(',')
	return { field: first.replace(/^-/, ''), isDescending: first.startsWith('-') }
}

/** Ascending, then descending, then as the server likes. */
export function sortedBy(url: string, field: string): string {
	const now = sortOf(url)
	if (now.field !== field) return withParameter(url, 'sort', field)
	return withParameter(url, 'sort', now.isDescending ? '' : `-${field}`)
}

/** Where a record is. */
export function recordUrl(path: string | undefined, key: JsonValue | undefined): string | undefined {
	if (path === undefined || (typeof key !== 'string' && !(key instanceof RawNumber))) return undefined
	const segment = encodeURIComponent(plainText(key))
	// Dots lead elsewhere, escaped or not.
	return /^\.{0,2}$/.test(segment) ? undefined : path.replace(/\{[^}]*\}$/, () => segment)
}

/** The URL of the next page, as `Link` says it (RFC 8288); `undefined` at the end. */
export function nextOf(headers: readonly (readonly [string, string])[]): string | undefined {
	const value = headers.find(([name]) => name.toLowerCase() === 'link')?.[1] ?? ''
	return /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(value)?.[1]
}

function pairsOf(url: string): [string, string][] {
	const at = url.indexOf('?')
	return at === -1 ? [] : [...new URLSearchParams(url.slice(at + 1))]
}

/** Without the place of the page: another question has other pages. */
function changed(url: string, change: (pairs: [string, string][]) => [string, string][]): string {
	const path = pathOf(url)
	const pairs = change(pairsOf(url)).filter(([name]) => name !== 'cursor' && name !== 'offset')
	const query = new URLSearchParams(pairs).toString()
	return query === '' ? path : `${path}?${query}`
}
