/** Lists on the wire, for `crud/` and `client/`: the names of query parameters and operators, and the `meta` of a page. */

/** Query parameters that aren't conditions on a field. Conditions on a field with one of these names go in `filter`. */
export const PARAMETERS = [
	'limit',
	'offset',
	'cursor',
	'sort',
	'fields',
	'count',
	'filter',
	'search',
	'include',
	'deleted',
] as const

/** Query parameters of totals that aren't conditions on a field. */
export const TOTALS_PARAMETERS = [
	'by',
	'sum',
	'avg',
	'min',
	'max',
	'count',
	'having',
	'sort',
	'limit',
	'tz',
	'filter',
	'search',
] as const

/** Members of a filter that hold other filters. Conditions on a field with one of these names go next to `filter`. */
export const GROUPS = ['and', 'or', 'not'] as const

/** What a field is compared by: `views[gte]=3`. Which ones a field has depends on its type. */
export const OPERATORS = [
	'eq',
	'ne',
	'gt',
	'gte',
	'lt',
	'lte',
	'in',
	'nin',
	'between',
	'contains',
	'startsWith',
	'endsWith',
	'ieq',
	'icontains',
	'istartsWith',
	'iendsWith',
	'null',
] as const

export type Operator = (typeof OPERATORS)[number]

/** The `meta` of a list's page. */
export interface PageMeta {
	/** The maximum number of records on a page, as the server applied it. */
	readonly limit: number
	/** How many records were skipped; usually 0 if the page was requested by cursor. */
	readonly offset: number
	/** The cursor of the next page; null on the last one. */
	readonly next: string | null
	/** How many records match, over all pages; present when they were counted. */
	readonly total?: number
	/** True if more records match than `total`, the number up to which the client asked to count. */
	readonly more?: true
}
