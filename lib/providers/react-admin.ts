/**
 * A data provider of react-admin 5 for the records of `CrudHandler`s: copy it into your project, with `conditions.ts` and
 * `embedded.ts`. Nothing is imported from react-admin; what it passes and expects is described here, and TypeScript compares
 * it in `app.tsx`.
 *
 *     <Admin dataProvider={dataProvider('/api', { HttpError })}>
 *       <Resource name="articles" … />       // the handler that is mounted at 'api/articles'
 */
import {
	ApiError,
	CrudClient,
	type CrudClientOptions,
	type ListQuery,
	type Many,
} from '../../lib/client/index.ts' // you write 'verbena/client'
import { conditionsOf } from './conditions.ts'
import { type Embedding, includeOf, ownOf, type Resources, relatedResource, shaped } from './embedded.ts'

export interface Options extends CrudClientOptions {
	/** react-admin's own. */
	readonly HttpError: new (
		message: string,
		status: number,
		body: object,
	) => Error
	/**
	 * The visible field that the handlers' option `version` names. With it, a record which somebody else has
	 * changed since it was read is not changed or deleted, and the user is told. @default none
	 */
	readonly version?: string
	/**
	 * The resources whose key has several fields, with these in the server's order: `{ tags: ['article', 'tag'] }`. The `id`
	 * of their records is made of the values, as in URLs: `7,herb`. @default none
	 */
	readonly keys?: Readonly<Record<string, readonly string[]>>
	/**
	 * Of which resources the related records are: `{ articles: { author: 'authors' } }`. For `meta.prefetch`, for a `target`
	 * that is the name of a relation, and for embedded records of resources in `keys`. @default none
	 */
	readonly relations?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

export type Identifier = string | number
export type AdminRecord = { id: Identifier } & Record<string, unknown>

/** What components pass as `queryOptions={{ meta }}` and `mutationOptions={{ meta }}`. */
export interface Meta extends Embedding {
	/** Further headers of the request. */
	readonly headers?: Readonly<Record<string, string>>
	/** `false` for large tables: nothing is counted, and one can only turn to the next page and back. @default true */
	readonly count?: boolean
}

interface Call {
	readonly meta?: Meta
	readonly signal?: AbortSignal | undefined
}
interface Listing extends Call {
	readonly pagination?: { readonly page: number; readonly perPage: number }
	readonly sort?: { readonly field: string; readonly order: 'ASC' | 'DESC' }
	readonly filter?: Readonly<Record<string, unknown>>
}
interface Reference extends Listing {
	/** Says with `id` which records: their field, `authorId`; `author.id`; a relation, `author`; or `authors/articles`. */
	readonly target: string
	readonly id: Identifier
}
interface OfOne extends Call {
	readonly id: Identifier
	readonly previousData?: AdminRecord
}
interface OfMany extends Call {
	readonly ids: readonly Identifier[]
}
interface Writing {
	readonly data: object
}
interface One<R> {
	readonly data: R
	readonly meta?: object
}
export interface ListResult<R> {
	readonly data: R[]
	readonly total?: number
	readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
	/** `prefetched`, if that was asked for. */
	readonly meta?: object
}
/** Any, of any records. */
interface Relations {
	readonly [name: string]: Many<AdminRecord, Relations>
}
type Client = CrudClient<AdminRecord, Relations>
type Pages = Pick<Client, 'pages'>
type Query = ListQuery<AdminRecord, Relations>
/** The fields of a key of several. */
type Key = readonly string[] | undefined

/** The server takes so many values in one condition, and records in one list. */
const MOST_VALUES = 100
const METHOD_NOT_ALLOWED = 405
const FIRST_PAGE = { page: 1, perPage: 25 }

/** @throws TypeError by the first call of a resource whose name, with the endpoint, makes no URL */
export function dataProvider(
	endpoint: string,
	{ HttpError, version, keys = {}, relations = {}, ...options }: Options,
) {
	const resources: Resources = { keys, relations }
	/** The lists that handlers don't allow: `updateMany articles`. */
	const refused = new Set<string>()
	function clientOf(resource: string): [client: Client, key: Key] {
		const key = ownOf(keys, resource)
		return [new CrudClient(resource, endpoint, key === undefined ? options : { ...options, key }), key]
	}
	/** `R` is the programmer's word for what the server sends. */
	async function ask<R>(
		resource: string,
		meta: Meta | undefined,
		call: (client: Client, key: Key) => Promise<{ data: unknown }>,
	): Promise<R> {
		try {
			return shaped(await call(...clientOf(resource)), resource, meta ?? {}, resources) as R
		} catch (error) {
			if (error instanceof ApiError) throw new HttpError(messageOf(error), error.status, bodyOf(error))
			throw error
		}
	}
	/** Of a change: with `If-Match`, where the version that was read is known. */
	function changing(call: Call, previous: AdminRecord | undefined) {
		const read = version === undefined ? undefined : previous?.[version]
		return { ...selecting(call), ifMatch: read === undefined ? undefined : `"${read}"` }
	}
	/** In one request for each hundred, all or none of them; where the handler doesn't allow lists, one by one. */
	function changeMany(
		operation: 'updateMany' | 'removeMany',
		resource: string,
		ids: readonly Identifier[],
		together: (client: Client, key: Key, some: readonly Identifier[]) => Promise<unknown>,
		alone: (client: Client, key: Key, id: Identifier) => Promise<unknown>,
	) {
		return ask<{ data: Identifier[] }>(resource, undefined, async (client, key) => {
			if (!refused.has(`${operation} ${resource}`))
				try {
					for (let at = 0; at < ids.length; at += MOST_VALUES)
						await together(client, key, ids.slice(at, at + MOST_VALUES))
					return { data: [...ids] }
				} catch (error) {
					if (!(error instanceof ApiError) || error.status !== METHOD_NOT_ALLOWED) throw error
					refused.add(`${operation} ${resource}`)
				}
			return each(ids, (id) => alone(client, key, id))
		})
	}
	/** The records that belong to one, by what `target` names. */
	function listOf(resource: string, { target, id, ...listing }: Reference, client: Client, key: Key) {
		const slash = target.lastIndexOf('/')
		if (slash !== -1) {
			const [parents, parentKey] = clientOf(target.slice(0, slash))
			return list(parents.related(valuesOf(id, parentKey), target.slice(slash + 1)), key, listing)
		}
		const parent = relatedResource(resource, target, resources)
		const parentKey = ownOf(keys, parent)
		const names = parent === undefined ? [target] : (parentKey ?? ['id']).map((name) => `${target}.${name}`)
		const values = [valuesOf(id, parentKey)].flat()
		const own = Object.fromEntries(names.map((name, at) => [name, { eq: values[at] }]))
		return list(client, key, { ...listing, filter: { ...listing.filter, ...own } })
	}

	return {
		supportAbortSignal: true,
		getList: <R extends AdminRecord>(resource: string, params: Listing) =>
			ask<ListResult<R>>(resource, params.meta, (client, key) => list(client, key, params)),
		getManyReference: <R extends AdminRecord>(resource: string, params: Reference) =>
			ask<ListResult<R>>(resource, params.meta, (client, key) => listOf(resource, params, client, key)),
		getOne: <R extends AdminRecord>(resource: string, { id, ...call }: OfOne) =>
			ask<One<R>>(resource, call.meta, async (client, key) => ({
				data: await client.get(valuesOf(id, key), selecting(call)),
			})),
		getMany: <R extends AdminRecord>(resource: string, { ids, ...call }: OfMany) =>
			ask<One<R[]>>(resource, call.meta, async (client, key) => ({
				data: await (key === undefined ? many(client, ids, call) : eachOf(client, key, ids, call)),
			})),
		create: <R extends AdminRecord>(resource: string, { data, ...call }: Writing & Call) =>
			ask<One<R>>(resource, call.meta, async (client) => ({
				data: await client.create({ ...data }, selecting(call)),
			})),
		update: <R extends AdminRecord>(resource: string, { id, data, previousData, ...call }: OfOne & Writing) =>
			ask<One<R>>(resource, call.meta, async (client, key) => ({
				data: await client.update(
					valuesOf(id, key),
					changed(data, previousData),
					changing(call, previousData),
				),
			})),
		updateMany: (resource: string, { ids, data, ...call }: OfMany & Writing) =>
			changeMany(
				'updateMany',
				resource,
				ids,
				(client, key, some) => {
					const records = some.map((id) => ({ ...data, ...keyIn(id, key) }))
					return client.updateMany(records, { ...optionsOf(call), fields: key ?? ['id'] })
				},
				(client, key, id) => client.update(valuesOf(id, key), { ...data }, optionsOf(call)),
			),
		delete: <R extends AdminRecord>(resource: string, { id, previousData, ...call }: OfOne) =>
			ask<One<R>>(resource, call.meta, async (client, key) => ({
				data: await client.delete(valuesOf(id, key), changing(call, previousData)),
			})),
		deleteMany: (resource: string, { ids, ...call }: OfMany) =>
			changeMany(
				'removeMany',
				resource,
				ids,
				(client, key, some) => client.removeMany(amongst(some, key), optionsOf(call)),
				(client, key, id) => client.delete(valuesOf(id, key), optionsOf(call)),
			),
	}
}

/** A page by its number. More than the server gives at once, as for an export, is fetched in pieces. */
async function list(
	client: Pages,
	key: Key,
	{ pagination = FIRST_PAGE, sort, filter = {}, ...call }: Listing,
) {
	const { page, perPage } = pagination
	const { q, ...conditions } = filter
	const { fields, include, ...options } = selecting(call)
	const count = call.meta?.count !== false
	const query = {
		...{ fields, include, count, limit: perPage, offset: (page - 1) * perPage },
		sort: sort && sortOf(sort, key),
		...(typeof q === 'string' ? { search: q, ...conditionsOf(conditions) } : conditionsOf(filter)),
	}
	// The client refuses what is no value, and the server what is no field.
	const { data, next, total } = await pieces(client, perPage, options, query as Query)
	return {
		...{ data, pageInfo: { hasNextPage: next, hasPreviousPage: page > 1 } },
		...(total === undefined ? {} : { total }),
	}
}

function sortOf({ field, order }: NonNullable<Listing['sort']>, key: Key): string[] {
	const fields = field === 'id' && key !== undefined ? key : [field]
	return fields.map((name) => (order === 'DESC' ? `-${name}` : name))
}

/** Cursor after cursor, until there are as many records as wanted, or no more. */
async function pieces(client: Pages, wanted: number, options: Call, query: Query) {
	const data: object[] = []
	let more = false
	let total: number | undefined
	for await (const page of client.pages(query, options)) {
		data.push(...page.data)
		total ??= page.meta.total
		more = page.meta.next !== null || data.length > wanted
		if (data.length >= wanted) break
	}
	return { data: data.slice(0, wanted), next: more, total }
}

/** Those that there are: one that has been deleted is left out. */
async function many(client: Client, ids: readonly Identifier[], call: Call) {
	const { fields, include, ...options } = selecting(call)
	const parts: object[] = []
	for (let at = 0; at < ids.length; at += MOST_VALUES) {
		const id = ids.slice(at, at + MOST_VALUES)
		const query = { fields, include, limit: id.length, where: { id } }
		const { data } = await pieces(client, id.length, options, query)
		parts.push(...data)
	}
	return parts
}

/** The same by a key of several fields: one request for each. */
async function eachOf(client: Client, key: Key, ids: readonly Identifier[], call: Call) {
	const get = (id: Identifier) =>
		client.get(valuesOf(id, key), selecting(call)).catch((error: unknown) => {
			if (error instanceof ApiError && error.status === 404) return []
			throw error
		})
	return (await Promise.all(ids.map(get))).flat()
}

/** The values in an `id` that was made of several. */
function valuesOf(id: Identifier, key: Key): Identifier | string[] {
	return key === undefined ? id : String(id).split(',').map(decodeURIComponent)
}

/** The fields of the key. */
function keyIn(id: Identifier, key: Key): Readonly<Record<string, Identifier>> {
	if (key === undefined) return { id }
	const values = [valuesOf(id, key)].flat()
	return Object.fromEntries(key.map((name, at) => [name, values[at] ?? '']))
}

/** The condition to be one of these. */
function amongst(ids: readonly Identifier[], key: Key): Query {
	if (key === undefined) return { where: { id: ids } }
	return { filter: { or: ids.map((id) => keyIn(id, key)) } } as Query // of fields that only the program knows
}

/** One request for each; all are sent before the first refusal is told. */
async function each(ids: readonly Identifier[], change: (id: Identifier) => Promise<unknown>) {
	const results = await Promise.allSettled(ids.map(change))
	const refused = results.find((result) => result.status === 'rejected')
	if (refused !== undefined) throw refused.reason
	return { data: [...ids] }
}

/** The fields that the form has changed, so that two people can change different ones. */
function changed(data: object, previous: AdminRecord | undefined): Partial<AdminRecord> {
	const differs = ([name, value]: [string, unknown]) =>
		JSON.stringify(value) !== JSON.stringify(previous?.[name])
	return Object.fromEntries(Object.entries(data).filter(differs))
}

function optionsOf({ signal, meta = {} }: Call) {
	return { signal, headers: meta.headers }
}

/** The same where records are returned. */
function selecting(call: Call) {
	const { meta = {} } = call
	return { ...optionsOf(call), fields: meta.fields, include: includeOf(meta) }
}

function messageOf({ status, message }: ApiError): string {
	return status === 412 ? 'Somebody else has changed this meanwhile: refresh, and do it again' : message
}

/** What is wrong with which field, as forms show it; without a field in it, the message is shown alone. */
function bodyOf({ code, message, details, requestId }: ApiError): object {
	const facts = { code, requestId }
	if (details.length === 0) return facts
	const errors: Record<string, unknown> = { root: { serverError: message } }
	for (const { field, message: problem } of details) {
		if (field !== '') errors[field] = Object.hasOwn(errors, field) ? `${errors[field]}; ${problem}` : problem
	}
	return { ...facts, errors }
}
