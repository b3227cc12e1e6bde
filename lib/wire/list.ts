/** Lists on the wire: the parameters that they are asked by, and the `meta` beside their records. */

/** Parameters that are no conditions on a field: a field of the same name is asked for in `filter`. */
export const PARAMETERS = [
	'limit',
	'offset',
	'cursor',
	'sort',
	'fields',
	'count',
	'filter',
	'search',
] as const

/** Members of a filter that hold other filters: a field of the same name is asked for beside it. */
export const GROUPS = ['and', 'or', 'not'] as const

/** About a page; sent as `meta`. */
export interface PageMeta {
	/** Most records of the page, as the server took it. */
	readonly limit: number
	/** How many records were left out before it; 0 behind most cursors. */
	readonly offset: number
	/** The cursor of the next page; null on the last one. */
	readonly next: string | null
	/** How many records fit, over all pages; there when they were counted. */
	readonly total?: number
}
