/** `CrudClient`: a collection of records behind a `CrudHandler`, as an object with methods. */
import { collectionUrl, idIn, idSegment } from './address.ts'
import { type Answer, type Call, isRecord, unexpected } from './answer.ts'
import { ApiError } from './api-error.ts'
import {
	type CallOptions,
	type ChangeOptions,
	type CreateOptions,
	checkedKey,
	idOf,
	matching,
	type RecordOptions,
	type RecordOrId,
} from './call-options.ts'
import { type Encoded, encodeQuery } from './encode-query.ts'
import type { FieldName, ListQuery, Page, SelectionQuery } from './list-query.ts'
import { originOf, remember } from './origin.ts'
import { pageOf } from './page.ts'
import { send } from './send.ts'
import { type Check, checkNames, type SendOptions, type Settings, settingsOf } from './settings.ts'

/** What holds for all calls of a `CrudClient`. */
export interface CrudClientOptions extends SendOptions {
	/** The field that tells records apart. @default 'id' */
	readonly key?: string
}

const KEY: Check = [(value) => typeof value === 'string' && value !== '', "a field's name"]

/** The options of every call. */
const OPTIONS: readonly string[] = ['signal', 'headers'] satisfies (keyof CallOptions)[]

/**
 * Lists, reads and changes the records at `<endpoint>/<name>`. `T` is a record as JSON has it, so that dates
 * are strings; `Input` is what can be written, where that is more than the fields that can be read.
 *
 *     const articles = new CrudClient<Article>('article', '/blog')
 *     const { data, meta } = await articles.list({ where: { tag: 'tea' }, sort: '-created' })
 *     await articles.update(data[0].id, { title: 'Thyme' })
 *
 * A record remembers the ETag that it came with, in a property that no copy has: whoever gives the record itself
 * instead of its id changes it only where nobody else has changed it meanwhile.
 *
 *     const article = await articles.get(5)
 *     await articles.update(article, { title: 'Thyme' }) // PATCH /blog/article/5, If-Match: "7"
 *
 * All methods reject with an `ApiError` for everything but a success, with the signal's reason when they are
 * aborted, and with a TypeError for what can't be sent, or a RangeError for an invalid date. What only reads is tried
 * again where it failed in passing, as the option `retries` says.
 *
 * @throws TypeError by the constructor where name or endpoint can't make a URL, and for a wrong option
 */
export class CrudClient<T extends object = Record<string, unknown>, Input extends object = Partial<T>> {
	/** URL of the collection: `/blog/article`. */
	readonly url: string
	// Not #private: frameworks put proxies around what is kept in their state, and those can't reach it.
	private readonly settings: Settings
	private readonly key: string

	constructor(name: string, endpoint: string, options: CrudClientOptions = {}) {
		this.url = collectionUrl(name, endpoint)
		this.settings = settingsOf('a CrudClient', options, { key: KEY })
		this.key = options.key ?? 'id'
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
		return pageOf(call, await this.send(call), query)
	}

	/**
	 * Page after page, from the first or from the query's `offset` or `cursor`. Each is asked for when the loop
	 * comes to it, and follows the last record of the one before: nothing is left out or twice when records
	 * come and go meanwhile. With `count`, the first page alone has the total.
	 *
	 *     for await (const { data } of articles.pages({ limit: 100 })) show(data)
	 */
	async *pages<F extends FieldName<T> = FieldName<T>>(
		query: ListQuery<T, F> = {},
		options?: CallOptions,
	): AsyncGenerator<Page<Pick<T, F>>, void, undefined> {
		// A cursor is good for the conditions that it was made by, whatever becomes of the query meanwhile.
		const { offset: _offset, count: _count, ...rest } = query
		let page = await this.list(query, options)
		yield page
		while (page.meta.next !== null) {
			page = await this.list({ ...rest, cursor: page.meta.next }, options)
			yield page
		}
	}

	/** How many records fit. `GET /blog/article?limit=0&count=exact` */
	async count(query: SelectionQuery<T> = {}, options?: CallOptions): Promise<number> {
		// Of a list's query, what says where its page is has no part in it.
		const { sort: _sort, fields: _fields, offset: _offset, cursor: _cursor, ...all }: ListQuery<T> = query
		const call = callOf(options, encodeQuery(this.url, { ...all, limit: 0, count: true }))
		const answer = await this.send(call)
		const { total } = pageOf(call, answer, {}).meta
		if (total === undefined) throw unexpected(call, answer.response, 'has no total', answer.data)
		return total
	}

	/**
	 * One record. `GET /blog/article/5`
	 *
	 * Of a record that came with an ETag it asks whether it has changed (`If-None-Match`): where it hasn't, the same
	 * object is answered, with whatever was done to it here.
	 */
	get<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		options?: RecordOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('GET', of, undefined, options)
	}

	/** The new record, with its id and whatever else the server has set. `POST /blog/article` */
	create<F extends FieldName<T> = FieldName<T>>(
		values: Input,
		options?: CreateOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('POST', undefined, values, options)
	}

	/** Changes the given fields, and answers the record. `PATCH /blog/article/5` */
	update<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		values: Partial<Input>,
		options?: ChangeOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PATCH', of, values, options)
	}

	/** Sets all fields: one that isn't given gets its default. `PUT /blog/article/5` */
	replace<F extends FieldName<T> = FieldName<T>>(
		of: RecordOrId<T>,
		values: Input,
		options?: ChangeOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PUT', of, values, options)
	}

	/** Deletes a record, and answers it as it was. `DELETE /blog/article/5` */
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
		const guard = method === 'GET' ? [] : [method === 'POST' ? 'idempotencyKey' : 'ifMatch']
		checkNames(`${method} ${this.url}`, options, [...OPTIONS, 'fields', ...guard])
		const { fields, ifMatch, idempotencyKey, ...rest } = options
		const id = idOf(of, this.key)
		// Only `create` has no record yet; from all others an id that is undefined is refused.
		const path = method === 'POST' ? this.url : `${this.url}/${idSegment(id)}`
		const url = fields === undefined ? path : `${path}?${new URLSearchParams({ fields: fields.join() })}`
		const conditions = method === 'GET' ? unchanged(of, url) : matching(of, ifMatch)
		const call = { ...rest, method, url, body, conditions, idempotencyKey: checkedKey(idempotencyKey) }
		try {
			const { data, response } = await this.send(call)
			const { headers } = response
			const known = id ?? (isRecord(data) ? data[this.key] : undefined) ?? idIn(headers.get('Location'))
			remember(data, url, known, headers.get('ETag'))
			return data as Pick<T, F> // the programmer's word for it, as in pageOf
		} catch (error) {
			// It is what was asked about, with the same fields (RFC 9110 §15.4.5).
			if (error instanceof ApiError && error.status === 304 && 'If-None-Match' in conditions)
				return of as Pick<T, F>
			throw error
		}
	}

	private send(call: Call): Promise<Answer> {
		return send(call, this.settings)
	}
}

function callOf(options: CallOptions = {}, encoded: Encoded): Call {
	checkNames('a list', options, OPTIONS)
	return { ...options, ...encoded }
}

/** Asks for a record that is here already only if it has changed; another selection of its fields is another. */
function unchanged(of: unknown, url: string): Record<string, string> {
	const { url: known, etag } = (isRecord(of) ? originOf(of) : undefined) ?? {}
	return etag !== undefined && known === url ? { 'If-None-Match': etag } : {}
}
