/**
 * `verbena/refine`: a data provider of refine 5, and 4, for the records of `CrudHandler`s. Imports nothing from refine:
 * `DataProvider` describes what refine passes and expects, and is assignable to its type of that name. Called by refine's
 * hooks; calls `resources.ts`.
 *
 *     <Refine dataProvider={dataProvider('/api')} resources={[{ name: 'articles', … }]} />
 */
import type { ApiError } from '../client/answer.ts'
import { isRecord } from '../client/answer.ts'
import { encodeParameters } from '../client/list-query.ts'
import { PARAMETERS } from '../wire/list.ts'
import { conditionsOf } from './crud-filters.ts'
import { isObject, ownOf } from './embedded.ts'
import { type Identifier, keyIn, valuesOf } from './ids.ts'
import type { CustomParams, DataProvider, ListParams, Meta } from './refine-calls.ts'
import {
	type Call,
	changeMany,
	ifMatchOf,
	messageOf,
	type ProviderOptions,
	problemsOf,
	Resources,
	readMany,
	readPage,
	removeMany,
	selecting,
} from './resources.ts'

export type { SendOptions } from '../client/settings.ts'
export type { CrudFilter } from './crud-filters.ts'
export type { Identifier } from './ids.ts'
export type {
	CreateParams,
	CustomParams,
	DataProvider,
	ListParams,
	ListResult,
	ManyParams,
	Meta,
	OneParams,
	Result,
	Sorter,
} from './refine-calls.ts'
export type { AnyRecord, ProviderOptions } from './resources.ts'

/** A failed call, in the shape of refine's error of that name. */
export class HttpError extends Error {
	/** Written out, because bundlers rename the class. */
	static override readonly name = 'HttpError'
	override readonly name = 'HttpError' as const
	/** HTTP status; 0 if there was no response. */
	readonly statusCode: number
	/** Problems by field, as forms show them at their inputs: `{ title: 'is required' }`, a list if there are several. */
	readonly errors: Readonly<Record<string, string | string[]>>
	/** The server's code, such as `not_found`, or one of the client's own: see `ApiError`. */
	readonly code: string
	/** The id of the request in the server's log. */
	readonly requestId: string | undefined

	constructor(
		message: string,
		facts: Pick<HttpError, 'statusCode' | 'errors' | 'code' | 'requestId'> & { readonly cause?: unknown },
	) {
		super(message, { cause: facts.cause })
		this.statusCode = facts.statusCode
		this.errors = facts.errors
		this.code = facts.code
		this.requestId = facts.requestId
	}
}

const FIRST_PAGE = 1
const PAGE_SIZE = 10
const CUSTOM_METHODS = ['get', 'delete', 'head', 'options', 'post', 'put', 'patch']

/**
 * The data provider for an API's handlers: the resource `articles` is the handler at `<endpoint>/articles`.
 *
 * @param endpoint `/api`, or `https://example.org/api`
 * @throws TypeError for an endpoint that isn't a URL or a path, for an unknown option, and for a wrong value; a call rejects
 *   with one for a resource name that can't be part of a URL, for a `meta` of a wrong type, and for an unknown operator
 */
export function dataProvider(endpoint: string, options: ProviderOptions = {}): DataProvider {
	const { version } = options
	const resources = new Resources(endpoint, options, errorOf)

	/** The values without the version, and `If-Match` with it. */
	const versioned = (values: object = {}): [values: object, ifMatch: string | undefined] => {
		const read =
			version === undefined ? undefined : ownOf(values as Readonly<Record<string, unknown>>, version)
		const rest = Object.entries(values).filter(([name]) => name !== version)
		return [Object.fromEntries(rest), ifMatchOf(read)]
	}

	return {
		getApiUrl: () => resources.endpoint,
		getList: async (params) => {
			const call = callOf(params.meta)
			return resources.ask(params.resource, call, async ({ client, key }) => {
				const query = pageOf(params)
				const { data, hasNext, total } = await readPage({ pages: client, key }, query, call)
				// Without a count: the records up to here, and one more if there is a next page.
				const before = query.perPage === Number.POSITIVE_INFINITY ? 0 : (query.page - 1) * query.perPage
				return { data, total: total ?? before + data.length + (hasNext ? 1 : 0) }
			})
		},
		getOne: async ({ resource, id, meta }) =>
			resources.ask(resource, callOf(meta), async ({ client, key }) => ({
				data: await client.get(valuesOf(id, key), selecting(callOf(meta))),
			})),
		getMany: async ({ resource, ids, meta }) =>
			resources.ask(resource, callOf(meta), async (of) => ({ data: await readMany(of, ids, callOf(meta)) })),
		create: async ({ resource, variables, meta }) =>
			resources.ask(resource, callOf(meta), async ({ client }) => ({
				data: await client.create(bodyOf(variables), selecting(callOf(meta))),
			})),
		createMany: async ({ resource, variables, meta }) =>
			resources.ask(resource, callOf(meta), async (of) => {
				const selection = selecting(callOf(meta))
				const together = (some: readonly unknown[]) => of.client.createMany(some.map(bodyOf), selection)
				const alone = (values: unknown) => of.client.create(bodyOf(values), selection)
				return { data: await changeMany<unknown, object>(of, 'createMany', variables, together, alone) }
			}),
		update: async ({ resource, id, variables, meta }) =>
			resources.ask(resource, callOf(meta), async ({ client, key }) => {
				const [values, ifMatch] = versioned(bodyOf(variables))
				return {
					data: await client.update(valuesOf(id, key), values, { ...selecting(callOf(meta)), ifMatch }),
				}
			}),
		updateMany: async ({ resource, ids, variables, meta }) =>
			resources.ask(resource, callOf(meta), async (of) => {
				const { client, key } = of
				const selection = selecting(callOf(meta))
				const values = bodyOf(variables)
				const together = (some: readonly Identifier[]) =>
					client.updateMany(
						some.map((id) => ({ ...values, ...keyIn(id, key) })),
						selection,
					)
				const alone = (id: Identifier) => client.update(valuesOf(id, key), values, selection)
				return { data: await changeMany<Identifier, object>(of, 'updateMany', ids, together, alone) }
			}),
		deleteOne: async ({ resource, id, variables, meta }) =>
			resources.ask(resource, callOf(meta), async ({ client, key }) => {
				const [, ifMatch] = versioned(bodyOf(variables))
				return { data: await client.delete(valuesOf(id, key), { ...selecting(callOf(meta)), ifMatch }) }
			}),
		deleteMany: async ({ resource, ids, meta }) =>
			resources.ask(resource, {}, async (of) => {
				await removeMany(of, ids, { signal: signalOf(meta) })
				return { data: ids.map((id) => ({ id, ...keyIn(id, of.key) })) }
			}),
		custom: <R>(params: CustomParams) =>
			resources.translated(async () => ({ data: (await resources.send(requestOf(resources, params))) as R })),
	}
}

/** The query of a list. All records if pagination is off or refine does it in the client. */
function pageOf({ pagination = {}, sorters = [], filters = [], meta = {} }: ListParams) {
	const { currentPage, current, pageSize = PAGE_SIZE, mode = 'server' } = pagination
	const isPaged = mode === 'server'
	return {
		...conditionsOf(filters, filterOf(meta)),
		page: isPaged ? (currentPage ?? current ?? FIRST_PAGE) : FIRST_PAGE,
		perPage: isPaged ? pageSize : Number.POSITIVE_INFINITY,
		sort: sorters,
		count: isPaged && meta.count !== false,
	}
}

/**
 * The options in `meta`. refine adds the parameters of the page's URL to it, so the author of a link can set whatever the
 * program doesn't: headers are never taken from it, and the types of the others are checked.
 */
function callOf(meta: Meta = {}): Call {
	const { fields, include } = meta
	if (fields !== undefined && !isNames(fields))
		throw new TypeError('meta.fields must be a list of names of fields')
	if (include !== undefined && !isNames(include) && !isObject(include))
		throw new TypeError("meta.include must be a list of relations, like ['author'], or an object of settings")
	return { fields, embed: include, signal: signalOf(meta) }
}

function filterOf({ filter }: Meta) {
	if (filter === undefined || isObject(filter)) return filter
	throw new TypeError('meta.filter must be an object, as the server takes it')
}

/** refine 5 passes the signal itself, refine 4 within `queryContext`. */
function signalOf({ signal, queryContext }: Meta = {}): AbortSignal | undefined {
	const found = signal ?? queryContext?.signal
	return isRecord(found) && 'throwIfAborted' in found ? (found as unknown as AbortSignal) : undefined
}

/** A request of `custom`, only for URLs below the endpoint: it is sent with the client's headers, such as credentials. */
function requestOf(
	{ endpoint }: Resources,
	{ url, method, filters = [], sorters = [], query = {}, payload, headers, meta }: CustomParams,
) {
	if (!CUSTOM_METHODS.includes(method)) throw new TypeError(`custom() has no method ${method}`)
	const behind = url.startsWith(endpoint) ? url.slice(endpoint.length) : undefined
	if (behind === undefined || !/^(?:$|\?|\/(?![/\\]))/.test(behind))
		throw new TypeError(`custom() calls what is below ${endpoint || '/'}: call fetch for other URLs`)
	const others = Object.entries(query as object).filter(([, value]) => value !== undefined)
	const sort = sorters.map(({ field, order }) => (order === 'desc' ? `-${field}` : field)).join()
	const all: [string, unknown][] = sort === '' ? others : [...others, ['sort', sort]]
	const [path = ''] = url.split('?', 1)
	const encoded = encodeParameters(path, all, conditionsOf(filters, undefined), PARAMETERS)
	if (encoded.method !== 'GET') throw new TypeError(`custom(): the query is too long for a URL`)
	// A value in the given query may have a question mark, too.
	const search = [url, encoded.url]
		.map((one) => one.slice(path.length + 1))
		.filter(Boolean)
		.join('&')
	return {
		...{ method: method.toUpperCase(), url: search === '' ? path : `${path}?${search}` },
		...(payload === undefined ? {} : { body: payload }),
		// The client checks them.
		...{ headers: headers as Readonly<Record<string, string>> | undefined, signal: signalOf(meta) },
		// A response to HEAD has no body to read.
		...(method === 'head' ? { read: () => Promise.resolve(undefined) } : {}),
	}
}

function errorOf(error: ApiError): HttpError {
	const problems = [...problemsOf(error)].map(
		([field, [only = '', ...more]]): [string, string | string[]] => [
			field,
			more.length === 0 ? only : [only, ...more],
		],
	)
	const { status: statusCode, code, requestId } = error
	return new HttpError(messageOf(error), {
		...{ statusCode, code, requestId, errors: Object.fromEntries(problems), cause: error },
	})
}

/** A form's values as an object that can be sent as JSON. */
function bodyOf(values: unknown): object {
	return isRecord(values) ? { ...values } : {}
}

function isNames(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
