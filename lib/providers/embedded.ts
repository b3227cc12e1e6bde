/**
 * Related records, for `resources.ts`: the `include` of a call, and responses in the form that components expect, with
 * arrays for lists within a record, and an `id` in every record.
 */

/** A record's relations by name, each with the relations of its records. */
interface Tree {
	readonly [name: string]: Tree
}

/** What a call returns besides the record's own fields. */
export interface Embedding {
	/**
	 * The fields to send, also of related records: `author.name`. `id`, or all fields of the key, must be among them.
	 * @default all that are visible
	 */
	readonly fields?: readonly string[] | undefined
	/**
	 * Relations to include in each record: `['author', 'comments.author']`, or with settings, as in a `CrudClient`:
	 * `{ comments: { limit: 3, sort: '-id' } }`. A to-many relation is an array; its list's `meta` is in `_meta.comments`.
	 * @default none
	 */
	readonly embed?: readonly string[] | Readonly<Record<string, unknown>> | undefined
	/** Relations whose records are returned separately, by resource: `['author']`. @default none */
	readonly prefetch?: readonly string[] | undefined
}

/** What responses don't tell about resources: see `ProviderOptions`. */
export interface Declared {
	readonly keys: Readonly<Record<string, readonly string[]>>
	readonly relations: Readonly<Record<string, Readonly<Record<string, string>>>>
}

type AnyRecord = Readonly<Record<string, unknown>>

/** `embed` and `prefetch` as the `include` of a `CrudClient`. */
export function includeOf({ embed, prefetch = [] }: Embedding) {
	if (embed === undefined || isList(embed)) {
		const names = [...new Set([...(embed ?? []), ...prefetch])]
		return names.length === 0 ? undefined : names
	}
	return { ...Object.fromEntries(prefetch.map((name) => [name, true])), ...embed }
}

/**
 * A response in the form that components expect. A list within a record becomes an array, and its `meta` is in `_meta`:
 *
 *     { id: 7, comments: { data: [{ id: 3 }], meta: { limit: 1, next: 'Mw' } } }
 *     { id: 7, comments: [{ id: 3 }], _meta: { comments: { limit: 1, next: 'Mw' } } }
 *
 * @throws TypeError for a relation to prefetch whose resource isn't known
 */
export function shaped(
	answer: { readonly data: unknown },
	resource: string,
	asked: Embedding,
	declared: Declared,
): object {
	const { prefetch = [] } = asked
	const tree = treeOf(asked)
	const record = (value: unknown) => shapedRecord(value, tree, resource, declared)
	const data = isList(answer.data) ? answer.data.map(record) : record(answer.data)
	if (prefetch.length === 0) return { ...answer, data }
	const apart = { ...answer, data: isList(data) ? data.map(without(asked)) : without(asked)(data) }
	return { ...apart, meta: { prefetched: prefetched([data].flat(), prefetch, resource, declared) } }
}

function treeOf({ fields = [], embed = [], prefetch = [] }: Embedding): Tree {
	const paths = [...fields, ...prefetch, ...pathsOf(embed)].map((path) => path.split('.'))
	return branches(paths)
}

/** The paths in what `CrudClient` takes as `include`. */
function pathsOf(include: unknown): string[] {
	if (isList(include)) return include.map(String)
	return Object.entries(include ?? {}).flatMap(
		([name, settings]: [string, Embedding & { include?: unknown }]) => [
			name,
			...[...(settings.fields ?? []), ...pathsOf(settings.include)].map((path) => `${name}.${path}`),
		],
	)
}

function branches(paths: readonly (readonly string[])[]): Tree {
	const below = new Map<string, string[][]>()
	for (const [name, ...rest] of paths) {
		if (name !== undefined) below.set(name, [...(below.get(name) ?? []), rest])
	}
	return Object.fromEntries([...below].map(([name, rest]) => [name, branches(rest)]))
}

function shapedRecord(value: unknown, tree: Tree, resource: string | undefined, declared: Declared): unknown {
	if (!isObject(value)) return value
	const key = ownOf(declared.keys, resource)
	const related: Record<string, unknown> = key === undefined ? {} : { id: idOf(value, key) }
	const lists: Record<string, unknown> = {}
	for (const [name, inner] of Object.entries(tree)) {
		const found = value[name]
		const target = relatedResource(resource, name, declared)
		const record = (one: unknown) => shapedRecord(one, inner, target, declared)
		if (isPage(found)) {
			related[name] = found.data.map(record)
			lists[name] = found.meta
		} else if (isObject(found)) related[name] = record(found)
	}
	return { ...value, ...related, ...(Object.keys(lists).length === 0 ? {} : { _meta: lists }) }
}

/** The `id` of a record whose key has several fields, as in URLs. */
function idOf(record: AnyRecord, key: readonly string[]): string {
	return key.map((name) => encodeURIComponent(String(record[name]))).join()
}

/** The prefetched records by resource, each once, as react-admin's cache takes them. */
function prefetched(
	records: readonly unknown[],
	names: readonly string[],
	resource: string,
	declared: Declared,
) {
	const all: Record<string, AnyRecord[]> = {}
	for (const name of names) {
		const target = relatedResource(resource, name, declared)
		if (target === undefined)
			throw new TypeError(
				`prefetch names ${name}, whose resource isn't known: give the data provider the option relations, { ${resource}: { ${name}: … } }`,
			)
		const found = records.flatMap((record) => (isObject(record) ? record[name] : [])).filter(isObject)
		const byId = new Map([...(all[target] ?? []), ...found].map((one) => [String(one.id), one]))
		all[target] = [...byId.values()]
	}
	return all
}

/** Removes the relations from a record that were only prefetched. */
function without({ embed = [], fields = [], prefetch = [] }: Embedding): (record: unknown) => unknown {
	const kept = treeOf({ embed, fields })
	const gone = prefetch.filter((name) => !Object.hasOwn(kept, name))
	const others = (of: object) =>
		Object.fromEntries(Object.entries(of).filter(([name]) => !gone.includes(name)))
	return (record) => {
		if (!isObject(record)) return record
		const { _meta: meta, ...rest } = record
		const left = isObject(meta) ? others(meta) : {}
		return { ...others(rest), ...(Object.keys(left).length === 0 ? {} : { _meta: left }) }
	}
}

export function relatedResource(
	resource: string | undefined,
	name: string,
	{ relations }: Declared,
): string | undefined {
	return ownOf(ownOf(relations, resource) ?? {}, name)
}

/** An own property: `name` may be anything, such as `constructor`. */
export function ownOf<T>(values: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
	return name !== undefined && Object.hasOwn(values, name) ? values[name] : undefined
}

function isList(value: unknown): value is readonly unknown[] {
	return Array.isArray(value)
}

export function isObject(value: unknown): value is AnyRecord {
	return typeof value === 'object' && value !== null && !isList(value)
}

function isPage(value: unknown): value is { readonly data: readonly unknown[]; readonly meta: AnyRecord } {
	return isObject(value) && isList(value.data) && isObject(value.meta) && 'next' in value.meta
}
