/**
 * What the data providers for react-admin and refine have in common: handlers by resource name, pages by number, ids of
 * several values, changes of many records, and problems by field. Called by `react-admin.ts` and `refine.ts`; calls
 * `CrudClient`.
 */
import { endpointUrl } from '../client/address.ts'
import { ApiError } from '../client/answer.ts'
import { CrudClient } from '../client/crud-client.ts'
import type { Page } from '../client/query-types.ts'
import { send } from '../client/send.ts'
import {
	type CallOptions,
	type Check,
	type SendOptions,
	type Settings,
	settingsOf,
} from '../client/settings.ts'
import { NOT_AN_OBJECT } from '../wire/codes.ts'
import { type Declared, type Embedding, includeOf, isObject, ownOf, shaped } from './embedded.ts'
import { amongst, chunks, type Identifier, type Key, MOST, urlChunks, valuesOf } from './ids.ts'

/** Options of both data providers, besides those of the client. */
export interface ProviderOptions extends SendOptions {
	/**
	 * The visible field that the handlers' option `version` names. With it, changing or deleting a record fails if somebody
	 * else has changed it since it was read. @default none
	 */
	readonly version?: string
	/**
	 * Resources whose key has several fields, in the server's order: `{ tags: ['article', 'tag'] }`. The `id` of their
	 * records joins the values as in URLs: `7,herb`. @default none
	 */
	readonly keys?: Readonly<Record<string, readonly string[]>>
	/**
	 * The resource of each relation's records: `{ articles: { author: 'authors' } }`. Needed for embedded records of resources
	 * in `keys`, and in react-admin for `meta.prefetch` and for a `target` that names a relation. @default none
	 */
	readonly relations?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A record with any fields, as components get it. */
export type AnyRecord = { id: Identifier } & Record<string, unknown>

/** A handler's list, or one below a record. */
export interface Pages {
	pages(query: object, options: CallOptions): AsyncIterable<Page<object>>
}
/** A to-many relation of one record. */
interface Related extends Pages {
	tie(of: Of, options: CallOptions): Promise<void>
	untie(of: Of, options: CallOptions): Promise<void>
}
type Of = Identifier | readonly string[]
/** A `CrudClient` whose record types only the program knows. */
interface Client extends Pages {
	get(of: Of, options: object): Promise<object>
	create(values: object, options: object): Promise<object>
	createMany(values: readonly object[], options: object): Promise<object[]>
	update(of: Of, values: object, options: object): Promise<object>
	updateMany(records: readonly object[], options: object): Promise<object[]>
	delete(of: Of, options: object): Promise<object>
	removeMany(query: object, options: CallOptions): Promise<unknown[]>
	totals(query: object, options: CallOptions): Promise<object[]>
	related(of: Of, name: string): Related
}

/** The handler of a resource. */
export interface Resource {
	readonly name: string
	readonly client: Client
	readonly key: Key
	/** Operations on several records that the handler has refused. */
	readonly refused: Set<string>
}

/** Options of a call. */
export interface Call extends CallOptions, Embedding {}

/** Conditions as `CrudClient` takes them. */
export interface Conditions {
	readonly where: Readonly<Record<string, unknown>>
	/** Conditions that `where` can't express. */
	readonly filter?: Readonly<Record<string, unknown>> | undefined
	readonly search?: string | undefined
}

/** A page by its number. */
export interface PageQuery extends Conditions {
	/** From 1. */
	readonly page: number
	/** Infinity for all records. */
	readonly perPage: number
	readonly sort: readonly { readonly field: string; readonly order: string }[]
	readonly count: boolean
}

interface PageResult {
	readonly data: object[]
	readonly hasNext: boolean
	/** If it was counted. */
	readonly total: number | undefined
}

const METHOD_NOT_ALLOWED = 405

const CHECKS: Readonly<Record<keyof ProviderOptions & keyof (Declared & { version: 0 }), Check>> = {
	version: [(value) => typeof value === 'string' && value !== '', "a field's name"],
	keys: [
		(value) => isObject(value) && Object.values(value).every(isNames),
		"lists of fields by resource: { tags: ['article', 'tag'] }",
	],
	relations: [
		(value) => isObject(value) && Object.values(value).every((one) => isObject(one) && areNames(one)),
		"resources by relation, by resource: { articles: { author: 'authors' } }",
	],
}

/** The handlers below an endpoint, as a data provider calls them. */
export class Resources {
	/** Without a slash at its end. */
	readonly endpoint: string
	readonly declared: Declared
	readonly #settings: Settings
	readonly #toError: (error: ApiError) => Error
	readonly #resources = new Map<string, Resource>()

	/**
	 * @param own the checks of a provider's own options
	 * @param toError the error that the framework expects
	 * @throws TypeError for an endpoint that isn't a URL or a path, for an unknown option, and for a wrong value
	 */
	constructor(
		endpoint: string,
		options: ProviderOptions,
		toError: (error: ApiError) => Error,
		own: Readonly<Record<string, Check>> = {},
	) {
		this.endpoint = endpointUrl("dataProvider()'s", endpoint)
		const all = settingsOf('dataProvider()', options, { ...CHECKS, ...own })
		const names = new Set([...Object.keys(CHECKS), ...Object.keys(own)])
		this.#settings = Object.fromEntries(Object.entries(all).filter(([name]) => !names.has(name))) as Settings // all others
		this.declared = { keys: options.keys ?? {}, relations: options.relations ?? {} }
		this.#toError = toError
	}

	/** @throws TypeError for a name that can't be a URL segment */
	of(name: string): Resource {
		const known = this.#resources.get(name)
		if (known !== undefined) return known
		const key = ownOf(this.declared.keys, name)
		const options = key === undefined ? this.#settings : { ...this.#settings, key }
		// `Client` has the same methods. Their own types would be infinitely deep for unknown records and relations.
		const client = new CrudClient(name, this.endpoint, options) as unknown as Client
		const resource = { name, client, key, refused: new Set<string>() }
		this.#resources.set(name, resource)
		return resource
	}

	/** The response to a call, in the framework's form. `R` isn't checked: the caller declares what the server sends. */
	async ask<R>(
		name: string,
		embedding: Embedding,
		work: (resource: Resource) => Promise<{ data: unknown }>,
	): Promise<R> {
		return this.translated(async () => shaped(await work(this.of(name)), name, embedding, this.declared) as R)
	}

	/** Sends any request with the client's settings; returns the value of the response. */
	async send(call: Parameters<typeof send>[0]): Promise<unknown> {
		return (await send(call, this.#settings)).data
	}

	/** Runs work, and turns its `ApiError` into the framework's. */
	async translated<R>(work: () => Promise<R>): Promise<R> {
		try {
			return await work()
		} catch (error) {
			throw error instanceof ApiError ? this.#toError(error) : error
		}
	}
}

/** A page by its number. If it is larger than the server's limit, it is fetched in several requests, by cursor. */
export async function readPage(
	{ pages, key }: { readonly pages: Pages; readonly key: Key },
	{ page, perPage, sort, count, ...conditions }: PageQuery,
	call: Call,
): Promise<PageResult> {
	const { fields, include, ...options } = selecting(call)
	const isWhole = perPage === Number.POSITIVE_INFINITY
	const query = {
		...{ fields, include, count, ...conditions },
		...(isWhole ? { limit: MOST } : { limit: perPage, offset: (page - 1) * perPage }),
		sort: sort.flatMap((one) => sortTerms(one, key)),
	}
	const data: object[] = []
	let hasNext = false
	let total: number | undefined
	// Not checked here: the client refuses invalid values, and the server unknown fields.
	for await (const piece of pages.pages(query, options)) {
		data.push(...piece.data)
		total ??= piece.meta.total
		hasNext = piece.meta.next !== null || data.length > perPage
		if (data.length >= perPage) break
	}
	return { data: data.slice(0, perPage), hasNext, total }
}

function sortTerms({ field, order }: PageQuery['sort'][number], key: Key): string[] {
	const fields = field === 'id' && key !== undefined ? key : [field]
	return fields.map((name) => (/^desc$/i.test(order) ? `-${name}` : name))
}

/** The records with these ids; those that don't exist are left out. */
export async function readMany(
	{ client, key }: Resource,
	ids: readonly Identifier[],
	call: Call,
): Promise<object[]> {
	const query = { page: 1, sort: [], count: false }
	const parts: object[] = []
	for (const some of chunks(ids, Math.floor(MOST / (key?.length ?? 1)))) {
		const { data } = await readPage(
			{ pages: client, key },
			{ ...query, perPage: some.length, ...amongst(some, key) },
			call,
		)
		parts.push(...data)
	}
	return parts
}

/**
 * Creates, changes or deletes many records, a hundred in each request, all or none of them. If the handler doesn't accept
 * lists, each record has its own request; all of a hundred are sent before the first error is thrown.
 */
export async function changeMany<T, R>(
	resource: Resource,
	operation: 'createMany' | 'updateMany' | 'removeMany',
	items: readonly T[],
	together: (some: readonly T[]) => Promise<readonly R[]>,
	alone: (one: T) => Promise<R>,
): Promise<R[]> {
	const results: R[] = []
	for (const some of chunks(items, MOST)) results.push(...(await changeSome(some)))
	return results

	async function changeSome(some: readonly T[]): Promise<readonly R[]> {
		if (resource.refused.has(operation)) return each(some, alone)
		try {
			return await together(some)
		} catch (error) {
			if (!(error instanceof ApiError) || !takesNoLists(error)) throw error
			if (error.status === METHOD_NOT_ALLOWED) resource.refused.add(operation)
			return each(some, alone)
		}
	}
}

/** Whether the handler doesn't accept lists, so nothing was done: 405, or 422 where POST creates one record. */
function takesNoLists({ status, code, message }: ApiError): boolean {
	return status === METHOD_NOT_ALLOWED || (code === 'invalid' && message === NOT_AN_OBJECT)
}

/** Deletes records by `changeMany`, with several requests for a hundred if the ids don't fit into one URL. */
export function removeMany(resource: Resource, ids: readonly Identifier[], options: CallOptions) {
	const { client, key } = resource
	return changeMany<Identifier, unknown>(
		...([resource, 'removeMany', ids] as const),
		async (some) => {
			for (const few of urlChunks(some, key)) await client.removeMany(amongst(few, key), options)
			return []
		},
		(id) => client.delete(valuesOf(id, key), options),
	)
}

/** Runs `work` for all items at once. @throws the first error, after all have ended */
export async function each<T, R>(items: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
	const settled = await Promise.allSettled(items.map(work))
	const refused = settled.find((one) => one.status === 'rejected')
	if (refused !== undefined) throw refused.reason
	return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** The options of a call that returns records. */
export function selecting(call: Call) {
	const { signal, headers, fields, ...embedding } = call
	return { signal, headers, fields, include: includeOf(embedding) }
}

/** The ETag of a version, for `If-Match`; `undefined` if the version isn't known. */
export function ifMatchOf(version: unknown): string | undefined {
	return version === undefined ? undefined : `"${version}"`
}

/** The message for users. */
export function messageOf({ status, message }: ApiError): string {
	return status === 412 ? 'Somebody else has changed this meanwhile: refresh, and do it again' : message
}

/** Problems by field: `{ title: ['is required'], 'items.0.pieces': ['must be at least 1'] }`. */
export function problemsOf({ details }: ApiError): ReadonlyMap<string, readonly string[]> {
	const problems = new Map<string, string[]>()
	for (const { field, message } of details)
		if (field !== '') problems.set(field, [...(problems.get(field) ?? []), message])
	return problems
}

function isNames(value: unknown): boolean {
	return Array.isArray(value) && value.length > 0 && areNames(value)
}

function areNames(values: object): boolean {
	return Object.values(values).every((name) => typeof name === 'string' && name !== '')
}
