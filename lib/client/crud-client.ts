/** `CrudClient`: the client of a `CrudHandler`, with a method for each operation. */
import { collectionUrl, type Id, idIn, idSegment } from './address.ts'
import { ApiError, type Call, isRecord, unexpected } from './answer.ts'
import {
	encodeQuery,
	type FieldName,
	type ListQuery,
	type Page,
	pageOf,
	type SelectionQuery,
} from './list-query.ts'
import { send } from './send.ts'
import {
	type CallOptions,
	type Check,
	checkedKey,
	checkNames,
	type SendOptions,
	type Settings,
	settingsOf,
} from './settings.ts'

/** Options of a `CrudClient`. */
export interface CrudClientOptions extends SendOptions {
	/** The field that identifies a record, or the fields that do so together, in the server's order. @default 'id' */
	readonly key?: string | readonly string[]
}

/** Options of calls that return a record. */
export interface RecordOptions<T, F extends FieldName<T> = FieldName<T>> extends CallOptions {
	/** The fields to return. @default all that are visible */
	readonly fields?: readonly F[] | undefined
}

/** Options of `create`. */
export interface CreateOptions<T, F extends FieldName<T> = FieldName<T>> extends RecordOptions<T, F> {
	/**
	 * 1 to 255 characters of printable ASCII, new for each record. A server that stores keys creates the record only once,
	 * so the call can be retried like a read.
	 *
	 * @default none: a create is attempted once
	 */
	readonly idempotencyKey?: string | undefined
}

/** Options of `update`, `replace` and `delete`. */
export interface ChangeOptions<T, F extends FieldName<T> = FieldName<T>> extends RecordOptions<T, F> {
	/**
	 * An ETag (`"7"`) to change only this version of the record, or `*` to change only an existing record.
	 * @default the ETag of the given record
	 */
	readonly ifMatch?: string | undefined
}

/** The id of a record (of several values, a list: `[7, 'herb']`), or the record itself. */
export type RecordOrId<T> = Id | readonly Id[] | Readonly<Partial<T>>

const KEY: Check = [
	(value) => [value].flat().every((name) => typeof name === 'string' && name !== ''),
	"a field's name, or a list of them",
]

const OPTIONS: readonly string[] = ['signal', 'headers'] satisfies (keyof CallOptions)[]

/**
 * Lists, reads and changes the records at `<endpoint>/<name>`. `T` is a record as JSON has it, with strings for dates;
 * `Input` is what can be written, if that differs from the readable fields.
 *
 *     const articles = new CrudClient<Article>('article', '/blog')
 *     const { data, meta } = await articles.list({ where: { tag: 'tea' }, sort: '-created' })
 *     await articles.update(data[0].id, { title: 'Thyme' })
 *
 * A record keeps the ETag that it came with in a property that isn't copied. A change that is given the record instead
 * of its id succeeds only if nobody else has changed the record meanwhile.
 *
 *     const article = await articles.get(5)
 *     await articles.update(article, { title: 'Thyme' }) // PATCH /blog/article/5, If-Match: "7"
 *
 * All methods reject with an `ApiError` for everything but a success, with the signal's reason when aborted, with a
 * TypeError for values that can't be sent, and with a RangeError for an invalid date. Reads are retried after temporary
 * failures, up to `retries` times.
 *
 * @throws TypeError by the constructor, for an invalid name or endpoint and for a wrong option
 */
export class CrudClient<T extends object = Record<string, unknown>, Input extends object = Partial<T>> {
	/** URL of the collection: `/blog/article`. */
	readonly url: string
	// Not #private: frameworks wrap their state in proxies, which can't access private members.
	private readonly settings: Settings
	private readonly key: readonly string[]

	constructor(name: string, endpoint: string, options: CrudClientOptions = {}) {
		this.url = collectionUrl(name, endpoint)
		this.settings = settingsOf('a CrudClient', options, { key: KEY })
		this.key = [options.key ?? 'id'].flat()
	}

	/**
	 * One page of records.
	 *
	 *     list({ limit: 2, sort: '-id', count: true })
	 *     GET /blog/article?limit=2&sort=-id&count=exact
	 *     { data: [{ id: 7 }, { id: 6 }], meta: { limit: 2, offset: 0, next: 'Ng', total: 7 } }
	 */
	async list<F extends FieldName<T> = FieldName<T>>(
		query: ListQuery<T, F> = {},
		options?: CallOptions,
	): Promise<Page<Pick<T, F>>> {
		const call = callOf(options, encodeQuery(this.url, query))
		return pageOf(call, await send(call, this.settings), query)
	}

	/**
	 * All pages, from the first or from the query's `offset` or `cursor`. Each page is requested when the loop reaches it,
	 * and continues after the last record of the previous page: no record is missed or repeated if others are added or
	 * deleted meanwhile. With `count`, only the first page has the total.
	 *
	 *     for await (const { data } of articles.pages({ limit: 100 })) show(data)
	 */
	async *pages<F extends FieldName<T> = FieldName<T>>(
		query: ListQuery<T, F> = {},
		options?: CallOptions,
	): AsyncGenerator<Page<Pick<T, F>>, void, undefined> {
		// Copied: a cursor is only valid with the conditions it was made for, and the caller may change `query` between pages.
		const { offset: _offset, count: _count, ...rest } = query
		let page = await this.list(query, options)
		yield page
		while (page.meta.next !== null) {
			page = await this.list({ ...rest, cursor: page.meta.next }, options)
			yield page
		}
	}

	/** How many records match. `GET /blog/article?limit=0&count=exact` */
	async count(query: SelectionQuery<T> = {}, options?: CallOptions): Promise<number> {
		// Order, fields and position of a page have no effect on the count.
		const { sort: _sort, fields: _fields, offset: _offset, cursor: _cursor, ...all }: ListQuery<T> = query
		const call = callOf(options, encodeQuery(this.url, { ...all, limit: 0, count: true }))
		const answer = await send(call, this.settings)
		const { total } = pageOf(call, answer, {}).meta
		if (total === undefined) throw unexpected(call, answer.response, 'has no total', answer.data)
		return total
	}

	/**
	 * One record. `GET /blog/article/5`
	 *
	 * If the given record came with an ETag, asks whether it has changed (`If-None-Match`). If it hasn't, returns the
	 * given object, including changes that the program has made to it.
	 */
	get<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		options?: RecordOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('GET', of, undefined, options)
	}

	/** Creates a record and returns it, with its id and other fields that the server sets. `POST /blog/article` */
	create<F extends FieldName<T> = FieldName<T>>(
		values: Input,
		options?: CreateOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('POST', undefined, values, options)
	}

	/** Changes the given fields and returns the record. `PATCH /blog/article/5` */
	update<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		values: Partial<Input>,
		options?: ChangeOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PATCH', of, values, options)
	}

	/** Sets all fields, absent ones to their defaults, and returns the record. `PUT /blog/article/5` */
	replace<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		values: Input,
		options?: ChangeOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PUT', of, values, options)
	}

	/** Deletes a record and returns it as it was. `DELETE /blog/article/5` */
	delete<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		options?: ChangeOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('DELETE', of, undefined, options)
	}

	private async record<F extends FieldName<T>>(
		method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
		of: RecordOrId<T> | undefined,
		body: unknown,
		options: ChangeOptions<T, F> & CreateOptions<T, F> = {},
	): Promise<Pick<T, F>> {
		const own = method === 'GET' ? [] : [method === 'POST' ? 'idempotencyKey' : 'ifMatch']
		checkNames(`${method} ${this.url}`, options, [...OPTIONS, 'fields', ...own])
		const { fields, ifMatch, idempotencyKey, ...rest } = options
		const id = idOf(of, this.key)
		// Only `create` has no id; for the others `segmentOf` refuses undefined.
		const path = method === 'POST' ? this.url : `${this.url}/${segmentOf(id)}`
		const url = fields === undefined ? path : `${path}?${new URLSearchParams({ fields: fields.join() })}`
		const conditions = method === 'GET' ? readCondition(of, url) : changeCondition(of, ifMatch)
		const call = { ...rest, method, url, body, conditions, idempotencyKey: checkedKey(idempotencyKey) }
		try {
			const { data, response } = await send(call, this.settings)
			const { headers } = response
			const recordId =
				id ?? (isRecord(data) ? valuesOf(data, this.key) : undefined) ?? idIn(headers.get('Location'))
			setOrigin(data, url, recordId, headers.get('ETag'))
			return data as Pick<T, F> // of the type that the program declared
		} catch (error) {
			// Not modified: the given record is current, with the same fields (RFC 9110 §15.4.5).
			if (error instanceof ApiError && error.status === 304 && 'If-None-Match' in conditions)
				return of as Pick<T, F>
			throw error
		}
	}
}

function callOf(options: CallOptions = {}, encoded: Call): Call {
	checkNames('a list', options, OPTIONS)
	return { ...options, ...encoded }
}

/**
 * `If-None-Match` for a record that is read again. With other `fields` the URL differs, and the ETag isn't valid for it.
 */
function readCondition(of: unknown, url: string): Record<string, string> {
	const { url: own, etag } = (isRecord(of) ? originOf(of) : undefined) ?? {}
	return etag !== undefined && own === url ? { 'If-None-Match': etag } : {}
}

const IF_MATCH = /^(?:W\/(?="))?(\*|"[\x21\x23-\x7e\x80-\xff]*")$/

/** The given id, or the id of the given record. @throws TypeError for a record whose id isn't known */
function idOf(of: unknown, key: readonly string[]): unknown {
	if (!isRecord(of) || Array.isArray(of)) return of
	const id = originOf(of)?.id ?? valuesOf(of, key)
	if (id !== undefined) return id
	throw new TypeError(
		`the record has no ${key.join()}, so its id isn't known: pass the id, or set the client's key`,
	)
}

/** The values of the key, if the record has all of them. */
function valuesOf(record: Readonly<Record<string, unknown>>, key: readonly string[]): unknown[] | undefined {
	const values = key.map((name) => record[name])
	return values.includes(undefined) ? undefined : values
}

function segmentOf(id: unknown): string {
	const [only, ...more] = Array.isArray(id) ? id : [id]
	if (more.length === 0) return idSegment(only)
	return [only, ...more].map((value) => idSegment(value, false)).join()
}

/**
 * `If-Match` of a change: the given ETag, or else the record's own. Removes the `W/` that a compressing proxy adds,
 * because a weak tag never matches (RFC 9110 §13.1.1). If the server's own tags are weak, it then refuses the change,
 * which is better than an unconditional one.
 *
 * @throws TypeError for an invalid `ifMatch`
 */
function changeCondition(of: unknown, ifMatch: string | undefined): Record<string, string> {
	const [, tag] = IF_MATCH.exec(ifMatch ?? (isRecord(of) ? originOf(of)?.etag : undefined) ?? '') ?? []
	if (tag !== undefined) return { 'If-Match': tag }
	if (ifMatch === undefined) return {}
	throw new TypeError(`ifMatch must be an ETag, like '"7"', or '*'`)
}

/** Where a record came from. */
interface Origin {
	/** The URL that the record was read from, with the selected fields. */
	readonly url: string
	readonly id: unknown
	/** `undefined` if absent or malformed (RFC 9110 §8.8.3). */
	readonly etag: string | undefined
}

/**
 * A property of the record itself, because frameworks wrap records in proxies, which a WeakMap wouldn't find. Not
 * enumerable, so copies, JSON, comparisons and logs don't have it.
 */
const ORIGIN = Symbol.for('verbena.origin')
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

function setOrigin(record: unknown, url: string, id: unknown, etag: string | null): void {
	if (!isRecord(record)) return
	const value: Origin = { url, id, etag: ETAG.exec(etag ?? '')?.[0] }
	// Configurable: for other properties, a framework's proxy must return the original object, and couldn't wrap it.
	Object.defineProperty(record, ORIGIN, { value, configurable: true })
}

function originOf(record: object): Origin | undefined {
	// Only `setOrigin` sets this symbol.
	return (record as { readonly [ORIGIN]?: Origin })[ORIGIN]
}

/**
 * The ETag that a record came with, as sent: `"7"`; `undefined` if there was none, and for copies of a record.
 *
 *     await articles.update(id, values, { ifMatch: etagOf(record) })
 */
export function etagOf(record: object): string | undefined {
	return originOf(record)?.etag
}
