/** Parameters and results of the calls of refine's data provider. Types only, for `refine.ts`. */
import type { CrudFilter } from './crud-filters.ts'
import type { Identifier } from './ids.ts'
import type { AnyRecord } from './resources.ts'

/** What components pass as `meta`. refine adds the parameters of the page's URL to it. */
export interface Meta {
	/**
	 * The fields to send, also of related records: `['id', 'title', 'author.name']`. `id`, or all fields of the key, must be
	 * among them. @default all that are visible
	 */
	readonly fields?: readonly unknown[]
	/**
	 * Relations to include in each record: `['author', 'comments.author']`, or with settings, as in a `CrudClient`:
	 * `{ comments: { limit: 3, sort: '-id' } }`. A to-many relation is an array; its list's `meta` is in `_meta.comments`.
	 * @default none
	 */
	readonly include?: unknown
	/** For a list: a filter in the server's form, for what refine's filters can't express. @default none */
	readonly filter?: unknown
	/** For a list: `false` for large tables. Nothing is counted; `total` only tells whether there is a next page. @default true */
	readonly count?: unknown
	readonly signal?: unknown
	readonly queryContext?: { readonly signal?: AbortSignal | undefined } | undefined
}

/** A sort term. */
export interface Sorter {
	readonly field: string
	readonly order: 'asc' | 'desc'
}

/** A list. */
export interface ListParams {
	readonly resource: string
	readonly pagination?:
		| {
				/** From 1. @default 1 */
				readonly currentPage?: number | undefined
				/** The same in refine 4. */
				readonly current?: number | undefined
				/** @default 10 */
				readonly pageSize?: number | undefined
				/** `off` and `client` read all records. @default 'server' */
				readonly mode?: 'client' | 'server' | 'off' | undefined
		  }
		| undefined
	readonly sorters?: readonly Sorter[] | undefined
	readonly filters?: readonly CrudFilter[] | undefined
	readonly meta?: Meta | undefined
}

/** Parameters of a call for one record. */
export interface OneParams {
	readonly resource: string
	readonly id: Identifier
	readonly meta?: Meta | undefined
}
/** Parameters of a call for several records. */
export interface ManyParams {
	readonly resource: string
	readonly ids: readonly Identifier[]
	readonly meta?: Meta | undefined
}
/** Parameters of a call that creates records. */
export interface CreateParams<V> {
	readonly resource: string
	readonly variables: V
	readonly meta?: Meta | undefined
}

/** Any request below the endpoint. */
export interface CustomParams {
	/** Begins with the endpoint: `/api/orders/totals`. */
	readonly url: string
	readonly method: 'get' | 'delete' | 'head' | 'options' | 'post' | 'put' | 'patch'
	readonly sorters?: readonly Sorter[] | undefined
	readonly filters?: readonly CrudFilter[] | undefined
	/** Sent as JSON. */
	readonly payload?: unknown
	/** Further parameters of the URL. */
	readonly query?: unknown
	readonly headers?: object | undefined
	readonly meta?: Meta | undefined
}

/** The result of a call. */
export interface Result<D> {
	data: D
}
/** A page of records. */
export interface ListResult<R> extends Result<R[]> {
	/** How many there are on all pages. */
	total: number
}

/** The methods that refine calls. */
export interface DataProvider {
	/** The endpoint, without a slash at its end. */
	getApiUrl(): string
	/** A page of records, or all. */
	getList<R extends object = AnyRecord>(params: ListParams): Promise<ListResult<R>>
	/** One record. */
	getOne<R extends object = AnyRecord>(params: OneParams): Promise<Result<R>>
	/** Several records; those that don't exist are left out. */
	getMany<R extends object = AnyRecord>(params: ManyParams): Promise<Result<R[]>>
	/** `variables` may contain new records for a writable relation: `{ title, comments: [{ text }] }`. */
	create<R extends object = AnyRecord, V = object>(params: CreateParams<V>): Promise<Result<R>>
	/** Creates several records, in their order. */
	createMany<R extends object = AnyRecord, V = object>(
		params: CreateParams<readonly V[]>,
	): Promise<Result<R[]>>
	/** With the option `version`, and the version among the variables, fails if somebody else has changed the record. */
	update<R extends object = AnyRecord, V = object>(
		params: OneParams & { readonly variables: V },
	): Promise<Result<R>>
	/** Changes several records, and returns them. */
	updateMany<R extends object = AnyRecord, V = object>(
		params: ManyParams & { readonly variables: V },
	): Promise<Result<R[]>>
	/** Deletes a record and returns it as it was; with the option `version` as `update`. */
	deleteOne<R extends object = AnyRecord, V = object>(
		params: OneParams & { readonly variables?: V | undefined },
	): Promise<Result<R>>
	/** Deletes several records; returns their ids. */
	deleteMany<R extends object = AnyRecord>(params: ManyParams): Promise<Result<R[]>>
	/** Any request below the endpoint, with the client's headers. Its `data` is what the server sends. */
	custom<R = unknown>(params: CustomParams): Promise<Result<R>>
}
