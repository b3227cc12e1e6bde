/** Reads a list's query from its URL, and makes URLs with a changed one; and the URL and body that change selected rows. */
import type { ParameterShape } from '../../validate/schema/shape.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue, RawNumber, textOf } from './json-value.ts'
import { pathOf } from './path.ts'

/** The query features of a list. */
export interface ListFeatures {
	readonly hasSearch: boolean
	readonly hasCount: boolean
	readonly hasLimit: boolean
	readonly hasInclude: boolean
	/** Whether the caller may read deleted records. */
	readonly hasDeleted: boolean
	readonly sortable: ReadonlySet<string>
	/** Operators by field; the empty one is plain equality. */
	readonly filters: ReadonlyMap<string, readonly string[]>
}

export interface Condition {
	/** Its index among the query's pairs. */
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

export function featuresOf(query: readonly ParameterShape[]): ListFeatures {
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
		hasInclude: query.some(({ role }) => role === 'include'),
		hasDeleted: query.some(({ role }) => role === 'deleted'),
		sortable: sortableOf(query.find(({ role }) => role === 'sort')),
		filters,
	}
}

/** Splits a parameter name, `title[contains]`. */
function partsOf(name: string): [field: string, operator: string] {
	const [, field = name, operator = ''] = /^(.*)\[(\w+)\]$/.exec(name) ?? []
	return [field, operator]
}

/** The fields listed in the schema of the `sort` parameter, without the `-` prefix for descending order. */
function sortableOf(parameter: ParameterShape | undefined): ReadonlySet<string> {
	const { schema } = parameter ?? {}
	const { items } = schema?.anyOf?.[0] ?? schema ?? {}
	const names = schema?.enum ?? items?.enum ?? []
	return new Set(names.map((name) => String(name).replace(/^-/, '')))
}

export function conditionsOf(url: string, { filters }: ListFeatures): Condition[] {
	return pairsOf(url).flatMap(([name, value], at) => {
		const [field, operator] = partsOf(name)
		const isKnown = filters.get(field)?.includes(operator) === true
		return isKnown ? [{ at, field, operator, value }] : []
	})
}

/** The URL of the first page with one more condition. */
export function withCondition(url: string, field: string, operator: string, value: string): string {
	const name = operator === '' ? field : `${field}[${operator}]`
	return changed(url, (pairs) => [...pairs, [name, value]])
}

export function isOfDeleted(url: string): boolean {
	return parameterOf(url, 'deleted') === 'only'
}

/** The URL of the first page without a condition. */
export function withoutPair(url: string, index: number): string {
	return changed(url, (pairs) => pairs.filter((_, at) => at !== index))
}

/** The URL of the first page with a parameter; an empty value removes it. */
export function withParameter(url: string, name: string, value: string): string {
	return changed(url, (pairs) => {
		const others = pairs.filter(([other]) => other !== name)
		return value === '' ? others : [...others, [name, value]]
	})
}

/** The URL of a list with these parameters; without those that are empty. */
export function asking(url: string, parameters: Readonly<Record<string, string>>): string {
	return `${url}?${new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''))}`
}

/** The URL of the same records with other fields. */
export function askingFor(url: string, fields: readonly string[]): string {
	const others = pairsOf(url).filter(([name]) => name !== 'fields' && name !== 'include' && name !== 'count')
	return `${pathOf(url)}?${new URLSearchParams([...others, ['fields', fields.join()]])}`
}

/** The URL of the totals of a list's records, beginning with their number. */
export function totalsOf(path: string, url: string): string {
	const others = pairsOf(url).filter(([name]) => !OF_LISTS.includes(name))
	return `${path}?${new URLSearchParams([['count', 'exact'], ...others])}`
}

/** Parameters of lists that aren't conditions. */
const OF_LISTS = ['limit', 'offset', 'cursor', 'sort', 'fields', 'count', 'include', 'deleted']

/**
 * The URL that finds these rows of a list by their key: `id[in]=1,2`, or a `filter` if a value has a comma or the key has
 * several fields.
 */
export function urlOfRows(
	path: string,
	keys: readonly string[],
	rows: readonly JsonValue[],
	filters: ListFeatures['filters'],
): string {
	const values = rows.map((row) => keys.map((key) => (isRecord(row) ? row.get(key) : undefined) ?? null))
	const [key = ''] = keys
	if (keys.length > 1) {
		const or = values.map((one) => new Map(keys.map((name, at) => [name, one[at] ?? null])))
		return asking(path, { filter: textOf(new Map([['or', or]])) })
	}
	const texts = values.flat().map((value) => plainText(value))
	if (filters.get(key)?.includes('in') && texts.every((text) => /^[^,]+$/.test(text)))
		return asking(path, { [`${key}[in]`]: texts.join() })
	return asking(path, { filter: textOf(new Map([[key, new Map([['in', values.flat()]])]])) })
}

/**
 * The body that changes rows of a list: each with its key and version, and the changes, which are members of an object.
 */
export function changesOf(
	rows: readonly ReadonlyMap<string, JsonValue>[],
	matched: readonly string[],
	changes: string,
): string {
	const records = rows.map((row) => {
		const own = [...row].filter(([name]) => matched.includes(name))
		const pairs = own.map(([name, value]) => `${JSON.stringify(name)}:${textOf(exact(value))}`)
		return `{${[...pairs, ...(changes === '' ? [] : [changes])].join()}}`
	})
	return `[${records.join()}]`
}

/** A number that servers would round is sent as a string. */
function exact(value: JsonValue): JsonValue {
	return value instanceof RawNumber && !Number.isSafeInteger(Number(value.text)) ? value.text : value
}

export function parameterOf(url: string, name: string): string {
	return pairsOf(url).findLast(([other]) => other === name)?.[1] ?? ''
}

/** The first sort term. */
export function sortOf(url: string): { field: string; isDescending: boolean } {
	const [first = ''] = parameterOf(url, 'sort').split(',')
	return { field: first.replace(/^-/, ''), isDescending: first.startsWith('-') }
}

/** The URL for the next state of a field's sort button: ascending, then descending, then unsorted. */
export function toggledSort(url: string, field: string): string {
	const current = sortOf(url)
	if (current.field !== field) return withParameter(url, 'sort', field)
	return withParameter(url, 'sort', current.isDescending ? '' : `-${field}`)
}

/** The placeholders at the end of a record's path, one for each field of the key: `/{article},{tag}`. */
const PLACEHOLDERS = /(?:\{[^}]*\},?)+(?=$|\?)/

/** The fields of the key in a record's path. */
export function keyFields(path = ''): string[] {
	return [...(PLACEHOLDERS.exec(path)?.[0] ?? '').matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name)
}

/** The URL of a row's record; `undefined` if its key can't be a path segment. */
export function recordUrl(path: string | undefined, row: JsonValue): string | undefined {
	const values = keyFields(path).map((name) => (isRecord(row) ? row.get(name) : undefined))
	const parts: string[] = []
	for (const value of values) {
		if (typeof value !== 'string' && !(value instanceof RawNumber)) return undefined
		parts.push(encodeURIComponent(plainText(value)))
	}
	// URLs resolve dot segments, even percent-encoded ones.
	const segment = parts.join()
	return /^\.{0,2}$/.test(segment) ? undefined : path?.replace(PLACEHOLDERS, () => segment)
}

/** The URL of the next page in a `Link` header (RFC 8288); `undefined` on the last one. */
export function nextIn(link: string | undefined): string | undefined {
	return /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(link ?? '')?.[1]
}

function pairsOf(url: string): [string, string][] {
	const at = url.indexOf('?')
	return at === -1 ? [] : [...new URLSearchParams(url.slice(at + 1))]
}

/** Changes the query and goes to its first page: a cursor or offset is valid only for the same query. */
function changed(url: string, change: (pairs: [string, string][]) => [string, string][]): string {
	const path = pathOf(url)
	const pairs = change(pairsOf(url)).filter(([name]) => name !== 'cursor' && name !== 'offset')
	const query = new URLSearchParams(pairs).toString()
	return query === '' ? path : `${path}?${query}`
}
