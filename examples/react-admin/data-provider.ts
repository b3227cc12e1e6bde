/**
 * A data provider of react-admin 5 for the records of `CrudHandler`s: copy it into your project. Nothing is
 * imported from react-admin; what it passes and expects is described here, and TypeScript compares it in `app.tsx`.
 *
 *     <Admin dataProvider={dataProvider('/api', { HttpError })}>
 *       <Resource name="articles" … />       // the handler that is mounted at 'api/articles'
 */
import {
	ApiError,
	CrudClient,
	type CrudClientOptions,
	type ListQuery,
	type Where,
} from '../../lib/client/index.ts' // you write 'verbena/client'

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
}

export type Identifier = string | number
export type AdminRecord = { id: Identifier } & Record<string, unknown>

/** What components pass as `queryOptions={{ meta }}` and `mutationOptions={{ meta }}`. */
export interface Meta {
	/** The fields to send; `id`, or all fields of the key, must be among them. @default all that are visible */
	readonly fields?: readonly string[]
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
export interface ListResult<R> {
	readonly data: R[]
	readonly total?: number
	readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
}
type Client = CrudClient<AdminRecord>
/** The fields of a key of several. */
type Key = readonly string[] | undefined

/** The server takes so many values in one condition. */
const MOST_VALUES = 100
const FIRST_PAGE = { page: 1, perPage: 25 }
const SUFFIX = /^(.+)_(ne|gte?|lte?|in|nin|between|i?(?:eq|contains|startsWith|endsWith)|null)$/

/** @throws TypeError by the first call of a resource whose name, with the endpoint, makes no URL */
export function dataProvider(endpoint: string, { HttpError, version, keys = {}, ...options }: Options) {
	/** `R` is the programmer's word for what the server sends. */
	async function ask<R>(resource: string, call: (client: Client, key: Key) => Promise<unknown>): Promise<R> {
		const key = Object.hasOwn(keys, resource) ? keys[resource] : undefined
		const all = key === undefined ? options : { ...options, key }
		try {
			return withIds(await call(new CrudClient<AdminRecord>(resource, endpoint, all), key), key) as R
		} catch (error) {
			if (error instanceof ApiError) throw new HttpError(messageOf(error), error.status, bodyOf(error))
			throw error
		}
	}
	/** Of a change: with `If-Match`, where the version that was read is known. */
	function changing(call: Call, previous: AdminRecord | undefined) {
		const read = version === undefined ? undefined : previous?.[version]
		return { ...optionsOf(call), ifMatch: read === undefined ? undefined : `"${read}"` }
	}

	return {
		supportAbortSignal: true,
		getList: <R extends AdminRecord>(resource: string, params: Listing) =>
			ask<ListResult<R>>(resource, (client, key) => list(client, key, params)),
		getManyReference: <R extends AdminRecord>(
			resource: string,
			{ target, id, filter, ...params }: Listing & { readonly target: string; readonly id: Identifier },
		) =>
			ask<ListResult<R>>(resource, (client, key) =>
				list(client, key, { ...params, filter: { ...filter, [target]: { eq: id } } }),
			),
		getOne: <R extends AdminRecord>(resource: string, { id, ...call }: OfOne) =>
			ask<{ data: R }>(resource, async (client, key) => ({
				data: await client.get(valuesOf(id, key), optionsOf(call)),
			})),
		getMany: <R extends AdminRecord>(resource: string, { ids, ...call }: OfMany) =>
			ask<{ data: R[] }>(resource, async (client, key) => ({
				data: await (key === undefined ? many(client, ids, call) : eachOf(client, key, ids, call)),
			})),
		create: <R extends AdminRecord>(resource: string, { data, ...call }: Writing & Call) =>
			ask<{ data: R }>(resource, async (client) => ({
				data: await client.create({ ...data }, optionsOf(call)),
			})),
		update: <R extends AdminRecord>(resource: string, { id, data, previousData, ...call }: OfOne & Writing) =>
			ask<{ data: R }>(resource, async (client, key) => ({
				data: await client.update(
					valuesOf(id, key),
					changed(data, previousData),
					changing(call, previousData),
				),
			})),
		updateMany: (resource: string, { ids, data, ...call }: OfMany & Writing) =>
			ask<{ data: Identifier[] }>(resource, (client, key) =>
				each(ids, (id) => client.update(valuesOf(id, key), { ...data }, optionsOf(call))),
			),
		delete: <R extends AdminRecord>(resource: string, { id, previousData, ...call }: OfOne) =>
			ask<{ data: R }>(resource, async (client, key) => ({
				data: await client.delete(valuesOf(id, key), changing(call, previousData)),
			})),
		deleteMany: (resource: string, { ids, ...call }: OfMany) =>
			ask<{ data: Identifier[] }>(resource, (client, key) =>
				each(ids, (id) => client.delete(valuesOf(id, key), optionsOf(call))),
			),
	}
}

/** A page by its number. More than the server gives at once, as for an export, is fetched in pieces. */
async function list(
	client: Client,
	key: Key,
	{ pagination = FIRST_PAGE, sort, filter = {}, ...call }: Listing,
) {
	const { page, perPage } = pagination
	const { q, ...conditions } = filter
	const { fields, ...options } = optionsOf(call)
	const count = call.meta?.count !== false
	const { data, next, total } = await pieces(client, perPage, options, {
		...{ fields, count, limit: perPage, offset: (page - 1) * perPage },
		sort: sort && sortOf(sort, key),
		...(typeof q === 'string' ? { search: q, where: whereOf(conditions) } : { where: whereOf(filter) }),
	})
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
async function pieces(client: Client, wanted: number, options: Call, query: ListQuery<AdminRecord>) {
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
	const { fields, ...options } = optionsOf(call)
	const parts: object[] = []
	for (let at = 0; at < ids.length; at += MOST_VALUES) {
		const id = ids.slice(at, at + MOST_VALUES)
		const { data } = await pieces(client, id.length, options, { fields, limit: id.length, where: { id } })
		parts.push(...data)
	}
	return parts
}

/** The same by a key of several fields: one request for each. */
async function eachOf(client: Client, key: Key, ids: readonly Identifier[], call: Call) {
	const get = (id: Identifier) =>
		client.get(valuesOf(id, key), optionsOf(call)).catch((error: unknown) => {
			if (error instanceof ApiError && error.status === 404) return []
			throw error
		})
	return (await Promise.all(ids.map(get))).flat()
}

/** The values in an `id` that `withIds` has made. */
function valuesOf(id: Identifier, key: Key): Identifier | string[] {
	return key === undefined ? id : String(id).split(',').map(decodeURIComponent)
}

/** An answer whose records have an `id`, also where their key has several fields. */
function withIds(answer: unknown, key: Key): unknown {
	if (key === undefined) return answer
	const named = (record: unknown) => {
		if (typeof record !== 'object' || record === null) return record
		const id = key.map((name) => encodeURIComponent(String(Reflect.get(record, name)))).join()
		return { ...record, id }
	}
	const { data } = answer as { data: unknown } // as all of the provider's methods make it
	return { ...(answer as object), data: Array.isArray(data) ? data.map(named) : named(data) }
}

/** One request for each; all are sent before the first refusal is told. */
async function each(ids: readonly Identifier[], change: (id: Identifier) => Promise<unknown>) {
	const results = await Promise.allSettled(ids.map(change))
	const refused = results.find((result) => result.status === 'rejected')
	if (refused !== undefined) throw refused.reason
	return { data: [...ids] }
}

/**
 * Conditions as the client takes them. Inputs name an operator behind a dot, which react-admin makes an object of,
 * or behind an underscore, as other servers have it; one that is empty is no condition.
 *
 *     { status: 'draft', created: { gte: '2026-01-01' }, views_lt: 9, tag: ['a', 'b'], note: '' }
 *     { status: 'draft', created: { gte: '2026-01-01' }, views: { lt: 9 }, tag: ['a', 'b'] }
 */
function whereOf(filter: Readonly<Record<string, unknown>>): Where<AdminRecord> {
	const where: Record<string, unknown> = {}
	for (const [name, value] of Object.entries(filter)) {
		if (value === undefined || value === '') continue
		// An object has its operators in it, so that a field may end like one: { checked_in: { eq: 5 } }.
		const [, field = name, operator] = (isOperators(value) ? null : SUFFIX.exec(name)) ?? []
		const match = operator === undefined ? value : { [operator]: value }
		where[field] = Object.hasOwn(where, field)
			? { ...operatorsOf(where[field]), ...operatorsOf(match) }
			: match
	}
	return where as Where<AdminRecord> // the client refuses what is no value, and the server what is no field
}

function operatorsOf(match: unknown): object {
	if (isOperators(match)) return match
	return Array.isArray(match) ? { in: match } : { eq: match }
}

function isOperators(match: unknown): match is object {
	return typeof match === 'object' && match !== null && !Array.isArray(match) && !(match instanceof Date)
}

/** The fields that the form has changed, so that two people can change different ones. */
function changed(data: object, previous: AdminRecord | undefined): Partial<AdminRecord> {
	const differs = ([name, value]: [string, unknown]) =>
		JSON.stringify(value) !== JSON.stringify(previous?.[name])
	return Object.fromEntries(Object.entries(data).filter(differs))
}

function optionsOf({ signal, meta = {} }: Call) {
	return { signal, headers: meta.headers, fields: meta.fields }
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
