/** `CrudClient`: a collection of records behind a `CrudHandler`, as an object with methods. */
import { collectionUrl, type Id, idSegment } from './address.ts'
import { type Answer, type Call, unexpected } from './answer.ts'
import { encodeQuery } from './encode-query.ts'
import type { FieldName, ListQuery, Page, SelectionQuery } from './list-query.ts'
import { pageOf } from './page.ts'
import { type Fetch, type HeaderSource, type Settings, send } from './send.ts'

export interface CrudClientOptions {
	/** Makes the requests. @default the platform's `fetch` */
	readonly fetch?: Fetch
	/** Headers of every request, or a function that makes them anew for each. @default none */
	readonly headers?: HeaderSource
	/** Whether answers come in the envelope: what `wrap` says at the handler. @default true */
	readonly wrap?: boolean
}

/** What one call has beside its values. */
export interface CallOptions {
	/** Ends the call: it rejects with the signal's reason. */
	readonly signal?: AbortSignal | undefined
	/** Headers of this request; they win over the client's. */
	readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface RecordOptions<T, F extends FieldName<T> = FieldName<T>> extends CallOptions {
	/** The fields to answer; all that are visible, where nothing is given. */
	readonly fields?: readonly F[] | undefined
}

/**
 * Lists, reads and changes the records at `<endpoint>/<name>`. `T` is a record as JSON has it, so that dates
 * are strings; `Input` is what can be written, where that is more than the fields that can be read.
 *
 *     const articles = new CrudClient<Article>('article', '/blog')
 *     const { data, meta } = await articles.list({ where: { tag: 'tea' }, sort: '-created' })
 *     await articles.update(data[0].id, { title: 'Thyme' })
 *
 * All methods reject with an `ApiError` for everything but a success, and with the signal's reason when they
 * are aborted.
 *
 * @throws TypeError by the constructor where name or endpoint can't make a URL
 */
export class CrudClient<T extends object = Record<string, unknown>, Input extends object = Partial<T>> {
	/** URL of the collection: `/blog/article`. */
	readonly url: string
	// Not #private: frameworks put proxies around what is kept in their state, and those can't reach it.
	private readonly settings: Settings

	constructor(name: string, endpoint: string, options: CrudClientOptions = {}) {
		this.url = collectionUrl(name, endpoint)
		this.settings = { fetch: options.fetch, headers: options.headers, wrap: options.wrap ?? true }
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
		const call = { ...options, ...encodeQuery(this.url, query) }
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
		let page = await this.list(query, options)
		yield page
		const { offset: _offset, count: _count, ...rest } = query
		while (page.meta.next !== null) {
			page = await this.list({ ...rest, cursor: page.meta.next }, options)
			yield page
		}
	}

	/** How many records fit. `GET /blog/article?limit=0&count=exact` */
	async count(query: SelectionQuery<T> = {}, options?: CallOptions): Promise<number> {
		const { where, filter, search } = query
		const call = { ...options, ...encodeQuery(this.url, { where, filter, search, limit: 0, count: true }) }
		const answer = await this.send(call)
		const { total } = pageOf(call, answer, {}).meta
		if (total === undefined) throw unexpected(call, answer.response, 'has no total', answer.data)
		return total
	}

	/** One record. `GET /blog/article/5` */
	get<F extends FieldName<T> = FieldName<T>>(id: Id, options?: RecordOptions<T, F>): Promise<Pick<T, F>> {
		return this.record('GET', id, undefined, options)
	}

	/** The new record, with its id and whatever else the server has set. `POST /blog/article` */
	create<F extends FieldName<T> = FieldName<T>>(
		values: Input,
		options?: RecordOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('POST', undefined, values, options)
	}

	/** Changes the given fields, and answers the record. `PATCH /blog/article/5` */
	update<F extends FieldName<T> = FieldName<T>>(
		id: Id,
		values: Partial<Input>,
		options?: RecordOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PATCH', id, values, options)
	}

	/** Sets all fields: one that isn't given gets its default. `PUT /blog/article/5` */
	replace<F extends FieldName<T> = FieldName<T>>(
		id: Id,
		values: Input,
		options?: RecordOptions<T, F>,
	): Promise<Pick<T, F>> {
		return this.record('PUT', id, values, options)
	}

	/** Deletes a record, and answers it as it was. `DELETE /blog/article/5` */
	delete<F extends FieldName<T> = FieldName<T>>(id: Id, options?: RecordOptions<T, F>): Promise<Pick<T, F>> {
		return this.record('DELETE', id, undefined, options)
	}

	private async record<F extends FieldName<T>>(
		method: string,
		id: Id | undefined,
		body: unknown,
		{ fields, ...options }: RecordOptions<T, F> = {},
	): Promise<Pick<T, F>> {
		const query = fields === undefined ? '' : `?${new URLSearchParams({ fields: fields.join() })}`
		// Only `create` has no record yet; from all others an id that is undefined is refused.
		const url = method === 'POST' ? this.url : `${this.url}/${idSegment(id)}`
		const { data } = await this.send({ ...options, method, url: url + query, body })
		return data as Pick<T, F> // the programmer's word for it, as in pageOf
	}

	private send(call: Call): Promise<Answer> {
		return send(call, this.settings)
	}
}
