/**
 * `verbena/react-admin`: a data provider of react-admin 5 for the records of `CrudHandler`s. Imports nothing
 * from react-admin: `DataProvider` describes what react-admin passes and expects, and is assignable to its type of that
 * name. Called by react-admin's hooks; calls `resources.ts`.
 *
 *     <Admin dataProvider={dataProvider('/api')}>
 *       <Resource name="articles" … />       // the handler that is mounted at 'api/articles'
 */
import type { ApiError } from '../client/answer.ts'
import type { Check } from '../client/settings.ts'
import { conditionsOf } from './conditions.ts'
import { ownOf, relatedResource } from './embedded.ts'
import { chunks, type Identifier, type Key, keyIn, MOST, valuesOf } from './ids.ts'
import type {
	CallParams,
	DataProvider,
	ListParams,
	ReferenceParams,
	Result,
	TieParams,
} from './react-admin-calls.ts'
import {
	type AnyRecord,
	type Call,
	changeMany,
	each,
	ifMatchOf,
	messageOf,
	type Pages,
	type ProviderOptions,
	problemsOf,
	Resources,
	readMany,
	readPage,
	removeMany,
	selecting,
} from './resources.ts'

export type { SendOptions } from '../client/settings.ts'
export type { Identifier } from './ids.ts'
export type {
	CallParams,
	DataProvider,
	ListParams,
	ListResult,
	ManyParams,
	Meta,
	OneParams,
	ReferenceParams,
	Result,
	TieParams,
	TotalsParams,
	Writing,
} from './react-admin-calls.ts'
export type { AnyRecord, ProviderOptions } from './resources.ts'

/** Options of {@link dataProvider}. */
export interface Options extends ProviderOptions {
	/**
	 * The class of errors: react-admin's own, if the program checks for it with `instanceof`.
	 * @default {@link HttpError}, which has the same properties
	 */
	readonly HttpError?: new (
		message: string,
		status: number,
		body: ErrorBody,
	) => Error
}

/** The details of an error, besides its message. */
export interface ErrorBody {
	/** The server's code, such as `not_found`, or one of the client's own: see `ApiError`. */
	readonly code: string
	/** The id of the request in the server's log. */
	readonly requestId: string | undefined
	/**
	 * Problems by field, as forms show them at their inputs: `{ title: 'is required', 'items.0.pieces': 'must be at least 1' }`;
	 * in `root.serverError` the message. Absent if no field is named.
	 */
	readonly errors?: Readonly<Record<string, unknown>>
}

/** A failed call, in the shape of react-admin's error of that name. */
export class HttpError extends Error {
	/** Written out, because bundlers rename the class. */
	static override readonly name = 'HttpError'
	override readonly name = 'HttpError' as const
	/** HTTP status; 0 if there was no response. */
	readonly status: number
	readonly body: ErrorBody

	constructor(message: string, status: number, body: ErrorBody) {
		super(message)
		this.status = status
		this.body = body
	}
}

const FIRST_PAGE = { page: 1, perPage: 25 }
const OWN: Readonly<Record<string, Check>> = {
	HttpError: [(value) => typeof value === 'function', 'a class of errors'],
}

/**
 * The data provider for an API's handlers: the resource `articles` is the handler at `<endpoint>/articles`.
 *
 * @param endpoint `/api`, or `https://example.org/api`
 * @throws TypeError for an endpoint that isn't a URL or a path, for an unknown option, and for a wrong value; a call rejects
 *   with one for a resource name that can't be part of a URL
 */
export function dataProvider(endpoint: string, options: Options = {}): DataProvider {
	const { HttpError: Thrown = HttpError, version } = options
	const toError = (error: ApiError) => new Thrown(messageOf(error), error.status, bodyOf(error))
	const resources = new Resources(endpoint, options, toError, OWN)

	/** Options of a change, with `If-Match` if the version that was read is known. */
	const changing = (params: CallParams, previous: object | undefined) => ({
		...selecting(callOf(params)),
		ifMatch: ifMatchOf(fieldOf(previous, version)),
	})
	const tying = (method: 'tie' | 'untie', target: string, { id, ids, ...params }: TieParams) => {
		const [name, relation] = splitTarget(target)
		return resources.ask<Result<Identifier[]>>(name, {}, async ({ client, key }) => {
			const related = client.related(valuesOf(id, key), relation)
			const otherKey = ownOf(resources.declared.keys, relatedResource(name, relation, resources.declared))
			const change = (other: Identifier) => related[method](valuesOf(other, otherKey), optionsOf(params))
			for (const some of chunks(ids, MOST)) await each(some, change)
			return { data: [...ids] }
		})
	}

	return {
		supportAbortSignal: true,
		getList: (name, params) =>
			resources.ask(name, params.meta ?? {}, ({ client, key }) => list({ pages: client, key }, params)),
		getManyReference: (name, params) =>
			resources.ask(name, params.meta ?? {}, () => list(...belonging(resources, name, params))),
		getOne: (name, { id, ...params }) =>
			resources.ask(name, params.meta ?? {}, async ({ client, key }) => ({
				data: await client.get(valuesOf(id, key), selecting(callOf(params))),
			})),
		getMany: (name, { ids, ...params }) =>
			resources.ask(name, params.meta ?? {}, async (resource) => ({
				data: await readMany(resource, ids, callOf(params)),
			})),
		create: (name, { data, ...params }) =>
			resources.ask(name, params.meta ?? {}, async ({ client }) => ({
				data: await client.create({ ...data }, selecting(callOf(params))),
			})),
		update: (name, { id, data, previousData, ...params }) =>
			resources.ask(name, params.meta ?? {}, async ({ client, key }) => ({
				data: await client.update(
					valuesOf(id, key),
					changed(data, previousData),
					changing(params, previousData),
				),
			})),
		updateMany: (name, { ids, data, ...params }) =>
			resources.ask(name, {}, async (resource) => {
				const { client, key } = resource
				const options = optionsOf(params)
				const together = (some: readonly Identifier[]) =>
					client.updateMany(
						some.map((id) => ({ ...data, ...keyIn(id, key) })),
						{ ...options, fields: key ?? ['id'] },
					)
				const alone = (id: Identifier) => client.update(valuesOf(id, key), { ...data }, options)
				await changeMany<Identifier, unknown>(resource, 'updateMany', ids, together, alone)
				return { data: [...ids] }
			}),
		delete: (name, { id, previousData, ...params }) =>
			resources.ask(name, params.meta ?? {}, async ({ client, key }) => ({
				data: await client.delete(valuesOf(id, key), changing(params, previousData)),
			})),
		deleteMany: (name, { ids, ...params }) =>
			resources.ask(name, {}, async (resource) => {
				await removeMany(resource, ids, optionsOf(params))
				return { data: [...ids] }
			}),
		getTotals: (name, { filter = {}, meta, signal, ...query }) =>
			// Not `ask`, which returns records: a group has no id.
			resources.translated(async () => {
				const { client } = resources.of(name)
				const groups = await client.totals({ ...query, ...conditionsOf(filter) }, optionsOf({ meta, signal }))
				return { data: groups as never[] } // of the type that the caller gives
			}),
		tie: (target, params) => tying('tie', target, params),
		untie: (target, params) => tying('untie', target, params),
	}
}

/** A page by its number, in react-admin's form. */
async function list(
	of: { readonly pages: Pages; readonly key: Key },
	{ pagination = FIRST_PAGE, sort, filter = {}, ...params }: ListParams,
) {
	const query = {
		...{ ...pagination, ...conditionsOf(filter), count: params.meta?.count !== false },
		sort: sort === undefined ? [] : [sort],
	}
	const { data, hasNext, total } = await readPage(of, query, callOf(params))
	return {
		...{ data, pageInfo: { hasNextPage: hasNext, hasPreviousPage: pagination.page > 1 } },
		...(total === undefined ? {} : { total }),
	}
}

/** The list, and its parameters, of the records that belong to one: see `ReferenceParams.target`. */
function belonging(
	resources: Resources,
	name: string,
	{ target, id, ...listing }: ReferenceParams,
): Parameters<typeof list> {
	const { declared } = resources
	const { client, key } = resources.of(name)
	if (target.includes('/')) {
		const [parentName, relation] = splitTarget(target)
		const parents = resources.of(parentName)
		return [{ pages: parents.client.related(valuesOf(id, parents.key), relation), key }, listing]
	}
	const parent = relatedResource(name, target, declared)
	const parentKey = ownOf(declared.keys, parent)
	const fields = parent === undefined ? [target] : (parentKey ?? ['id']).map((field) => `${target}.${field}`)
	const values = [valuesOf(id, parentKey)].flat()
	const own = Object.fromEntries(fields.map((field, at) => [field, { eq: values[at] }]))
	return [
		{ pages: client, key },
		{ ...listing, filter: { ...listing.filter, ...own } },
	]
}

/** `articles/tags` is the relation `tags` of `articles`. */
function splitTarget(target: string): [name: string, relation: string] {
	const slash = target.lastIndexOf('/')
	return [target.slice(0, slash), target.slice(slash + 1)]
}

/** Only the fields that the form has changed, so that two people can change different ones. */
function changed(data: object, previous: object | undefined): Partial<AnyRecord> {
	const differs = ([name, value]: [string, unknown]) =>
		JSON.stringify(value) !== JSON.stringify(fieldOf(previous, name))
	return Object.fromEntries(Object.entries(data).filter(differs))
}

function fieldOf(record: object | undefined, name: string | undefined): unknown {
	return ownOf((record ?? {}) as Readonly<Record<string, unknown>>, name)
}

function callOf({ signal, meta: { fields, embed, prefetch, headers } = {} }: CallParams): Call {
	return { signal, fields, embed, prefetch, headers }
}

function optionsOf({ signal, meta }: CallParams) {
	return { signal, headers: meta?.headers }
}

/** The details of an error. Without problems there are no `errors`, so that react-admin shows only the message. */
function bodyOf(error: ApiError): ErrorBody {
	const { code, message, requestId } = error
	const problems = [...problemsOf(error)].map(([field, found]) => [field, found.join('; ')])
	if (error.details.length === 0) return { code, requestId }
	return { code, requestId, errors: { root: { serverError: message }, ...Object.fromEntries(problems) } }
}
