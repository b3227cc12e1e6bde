/** Parameters and results of the calls of react-admin's data provider. Types only, for `react-admin.ts`. */
import type { Identifier } from './ids.ts'
import type { AnyRecord } from './resources.ts'

/** What components pass as `queryOptions={{ meta }}` and `mutationOptions={{ meta }}`. */
export interface Meta {
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
	/** Relations whose records go into react-admin's cache, where `<ReferenceField>` finds them: `['author']`. @default none */
	readonly prefetch?: readonly string[] | undefined
	/** Further headers of the request. */
	readonly headers?: Readonly<Record<string, string>> | undefined
	/** `false` for large tables: records aren't counted, and the pager only goes to the next and previous page. @default true */
	readonly count?: boolean | undefined
}

/** Parameters of every call. */
export interface CallParams {
	readonly meta?: Meta | undefined
	readonly signal?: AbortSignal | undefined
}
/** A page of a list. */
export interface ListParams extends CallParams {
	/** @default the first 25 */
	readonly pagination?: { readonly page: number; readonly perPage: number }
	readonly sort?: { readonly field: string; readonly order: 'ASC' | 'DESC' }
	/** Conditions by field, also with operators: `{ q: 'tea', status: 'draft', 'views.gte': 9, author: { name: 'Ada' } }`. */
	readonly filter?: Readonly<Record<string, unknown>>
}
/** A page of the records that belong to one. */
export interface ReferenceParams extends ListParams {
	/** How the records refer to `id`: a field, `authorId` or `author.id`; a relation, `author`; or its list, `authors/articles`. */
	readonly target: string
	readonly id: Identifier
}
/** One record. */
export interface OneParams extends CallParams {
	readonly id: Identifier
	readonly previousData?: object
}
/** Several records. */
export interface ManyParams extends CallParams {
	readonly ids: readonly Identifier[]
}
/** Records to relate to one. */
export interface TieParams extends ManyParams {
	/** The id of that one record. */
	readonly id: Identifier
}
/** What to write. */
export interface Writing {
	readonly data: object
}
/** Which totals: as for `CrudClient.totals`, but with the `filter` of react-admin. */
export interface TotalsParams extends CallParams, Pick<ListParams, 'filter'> {
	/** `['status', 'created:month', 'author.name']`. @default one group of all records */
	readonly by?: readonly string[]
	readonly sum?: readonly string[]
	readonly avg?: readonly string[]
	readonly min?: readonly string[]
	readonly max?: readonly string[]
	/** Whether to count the records of each group. @default false */
	readonly count?: boolean
	/** Which groups to return: `{ count: { gt: 1 } }`. @default all */
	readonly having?: Readonly<Record<string, unknown>>
	/** `['-sum.amount']` for descending order. @default the order of `by` */
	readonly sort?: readonly string[]
	/** Maximum number of groups. */
	readonly limit?: number
	/** The time zone of parts of times. @default 'UTC' */
	readonly tz?: string
}

/** The result of a call. */
export interface Result<D> {
	readonly data: D
	/** Has `prefetched` if the call's `meta` has `prefetch`. */
	readonly meta?: object
}
/** A page of records. */
export interface ListResult<R> extends Result<R[]> {
	/** How many there are on all pages; absent with `meta.count: false`. */
	readonly total?: number
	readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
}

/** The methods that react-admin calls, and three that components may call: `useDataProvider<DataProvider>()`. */
export interface DataProvider {
	readonly supportAbortSignal: true
	/** A page of records. */
	getList<R extends { id: Identifier } = AnyRecord>(
		resource: string,
		params: ListParams,
	): Promise<ListResult<R>>
	/** A page of the records that belong to one. */
	getManyReference<R extends { id: Identifier } = AnyRecord>(
		resource: string,
		params: ReferenceParams,
	): Promise<ListResult<R>>
	/** One record. */
	getOne<R extends { id: Identifier } = AnyRecord>(resource: string, params: OneParams): Promise<Result<R>>
	/** Several records; those that don't exist are left out. */
	getMany<R extends { id: Identifier } = AnyRecord>(
		resource: string,
		params: ManyParams,
	): Promise<Result<R[]>>
	/** `data` may contain new records for a writable relation: `{ title, comments: [{ text }] }`. */
	create<R extends { id: Identifier } = AnyRecord>(
		resource: string,
		params: Writing & CallParams,
	): Promise<Result<R>>
	/** Sends the fields that differ from `previousData`, and returns the record. */
	update<R extends { id: Identifier } = AnyRecord>(
		resource: string,
		params: OneParams & Writing,
	): Promise<Result<R>>
	/** Changes several records; returns their ids. */
	updateMany(resource: string, params: ManyParams & Writing): Promise<Result<Identifier[]>>
	/** Deletes a record and returns it as it was. */
	delete<R extends { id: Identifier } = AnyRecord>(resource: string, params: OneParams): Promise<Result<R>>
	/** Deletes several records; returns their ids. */
	deleteMany(resource: string, params: ManyParams): Promise<Result<Identifier[]>>
	/** Groups of records: `getTotals('orders', { by: ['status'], sum: ['amount'], filter: { 'created.gte': '2026-01-01' } })`. */
	getTotals<G extends object = Record<string, unknown>>(
		resource: string,
		params: TotalsParams,
	): Promise<Result<G[]>>
	/** Relates records to one, many to many: `tie('articles/tags', { id: 7, ids: [3] })`. One request for each. */
	tie(target: string, params: TieParams): Promise<Result<Identifier[]>>
	/** Removes the relation; the records themselves stay. */
	untie(target: string, params: TieParams): Promise<Result<Identifier[]>>
}
