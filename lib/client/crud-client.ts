/** `CrudClient`: the client of a `CrudHandler`, with a method for each operation. */
import { collectionUrl, type Id, idIn } from './address.ts'
import { ApiError, isRecord, unexpected } from './answer.ts'
import type {
	Changed,
	ChangeOptions,
	CreateOptions,
	CrudClientOptions,
	ExportOptions,
	Imported,
	ImportOptions,
	ImportSource,
	RecordOptions,
	RecordOrId,
} from './call-options.ts'
import { encodeDeletion, encodeQuery, pageOf } from './list-query.ts'
import { idOf, segmentOf, setOrigin, valuesOf } from './origin.ts'
import type { Include, ListQuery, Page, SelectionQuery } from './query-types.ts'
import { callOf, type KeyedOptions, keyedCallOf, NO_ID, recordCall } from './record-call.ts'
import type {
	FieldName,
	FieldPath,
	Many,
	NoRelations,
	RelationName,
	RelationsOf,
	Selected,
	TargetOf,
} from './record-types.ts'
import { listIn, send } from './send.ts'
import { type CallOptions, KEY, type Settings, settingsOf } from './settings.ts'
import { encodeTotals, type TotalsGroup, type TotalsKey, type TotalsQuery } from './totals.ts'
import { exported, imported } from './transfer.ts'

/** The records of a relation of one record: see {@link CrudClient.related}. */
export type RelatedClient<M> =
	M extends Many<infer T extends object, infer R extends object>
		? ManyClient<T, R>
		: OneClient<TargetOf<M>, RelationsOf<M>>

/** The records of a to-many relation. */
export interface ManyClient<T extends object, R extends object>
	extends Pick<CrudClient<T, R>, 'url' | 'list' | 'pages' | 'count' | 'create'> {
	/** Relates an existing record (many to many); no effect if it is related already. `PUT /blog/article/7/tags/3` */
	tie(of: RecordOrId<T>, options?: CallOptions): Promise<void>
	/** Removes the relation; the record itself stays. `DELETE /blog/article/7/tags/3` */
	untie(of: RecordOrId<T>, options?: CallOptions): Promise<void>
}

/** The record of a to-one relation. */
export interface OneClient<T, R> {
	readonly url: string
	/** Rejects with `not_found` if there is no such record. `GET /blog/article/7/author` */
	get<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		options?: RecordOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>>
}

/**
 * Lists, reads and changes the records at `<endpoint>/<name>`. `T` is a record as JSON has it, with strings for dates; `R`
 * are its relations; `Input` is what can be written, if that differs from the readable fields.
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
 * The second type argument names the relations, each with the type of its records, in `Many` if there may be several:
 *
 *     const articles = new CrudClient<Article, { author: Author; comments: Many<Comment> }>('article', '/blog')
 *     const { data } = await articles.list({ include: ['author'], where: { 'author.name': 'Ada' } })
 *     data[0].author?.name
 *
 * All methods reject with an `ApiError` for everything but a success, with the signal's reason when aborted, with a
 * TypeError for values that can't be sent, and with a RangeError for an invalid date. Reads are retried after temporary
 * failures, up to `retries` times.
 *
 * @throws TypeError by the constructor, for an invalid name or endpoint and for a wrong option
 */
export class CrudClient<
	T extends object = Record<string, unknown>,
	R extends object = NoRelations,
	Input extends object = Partial<T>,
> {
	/** URL of the collection: `/blog/article`. */
	readonly url: string
	// Not #private: frameworks wrap their state in proxies, which can't access private members.
	private readonly settings: Settings
	private readonly key: readonly string[]
	/** Not for related records, unless it is given: their key may be another field than `id`, which they may have as well. */
	private isKeyKnown = true

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
	async list<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		query: ListQuery<T, R, F, I> = {},
		options?: CallOptions,
	): Promise<Page<Selected<T, R, F, I>>> {
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
	async *pages<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		query: ListQuery<T, R, F, I> = {},
		options?: CallOptions,
	): AsyncGenerator<Page<Selected<T, R, F, I>>, void, undefined> {
		// Copied: a cursor is only valid with the conditions it was made for, and the caller may change `query` between pages.
		const { offset: _offset, count: _count, ...rest } = query
		let page = await this.list<F, I>(query, options)
		yield page
		while (page.meta.next !== null) {
			page = await this.list<F, I>({ ...rest, cursor: page.meta.next }, options)
			yield page
		}
	}

	/**
	 * All matching records without paging, where the server allows exports; `limit` is the maximum in all. Rejects if the
	 * response is cut off, after it has delivered the records before that. Not a snapshot.
	 *
	 *     for await (const article of articles.export({ where: { tag: 'tea' } })) write(article)
	 */
	export<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		query: Omit<ListQuery<T, R, F, I>, 'cursor' | 'offset'> = {},
		{ onProgress, ...options }: ExportOptions = {},
	): AsyncGenerator<Selected<T, R, F, I>, void, undefined> {
		const call = callOf(options, encodeQuery(this.url, query))
		return exported(call, this.settings, onProgress)
	}

	/**
	 * Creates the records of an iterable or of a file (CSV or NDJSON), all or none, where the server allows imports.
	 *
	 *     const { problems } = await articles.import(file, { mode: 'check' }) // POST /blog/article/import
	 */
	import(source: ImportSource<Input>, options: ImportOptions = {}): Promise<Imported> {
		return imported(this.url, source, options, this.settings)
	}

	/** How many records match. `GET /blog/article?limit=0&count=exact` */
	async count(query: SelectionQuery<T, R> = {}, options?: CallOptions): Promise<number> {
		// Order, contents and position of a page have no effect on the count.
		const more = { ...{ sort: undefined, fields: undefined, include: undefined }, offset: undefined }
		const all = { ...query, ...more, cursor: undefined, limit: 0, count: true } as const
		const call = callOf(options, encodeQuery(this.url, all))
		const answer = await send(call, this.settings)
		const { total } = pageOf(call, answer, {}).meta
		if (total === undefined) throw unexpected(call, answer.response, 'has no total', answer.data)
		return total
	}

	/**
	 * Totals of groups of records. `GET /shop/order/totals?by=created:month&sum=amount`
	 *
	 *     totals({ by: ['created:month'], sum: ['amount'] })  // [{ created: '2026-11', sum: { amount: '310.00' } }]
	 */
	totals<
		const By extends TotalsKey<T, R> = never,
		const Sum extends FieldName<T> = never,
		const Avg extends FieldName<T> = never,
		const Min extends FieldName<T> = never,
		const Max extends FieldName<T> = never,
		const Count extends boolean = false,
	>(
		query: TotalsQuery<T, R, By, Sum, Avg, Min, Max, Count>,
		options?: CallOptions,
	): Promise<TotalsGroup<T, R, By, Sum, Avg, Min, Max, Count>[]> {
		return listIn(callOf(options, encodeTotals(this.url, query)), this.settings)
	}

	/**
	 * One record. `GET /blog/article/5`
	 *
	 * If the given record came with an ETag, asks whether it has changed (`If-None-Match`). If it hasn't, returns the
	 * given object, including changes that the program has made to it.
	 */
	get<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		of: RecordOrId<T>,
		options?: RecordOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('GET', of, undefined, options)
	}

	/** Creates a record and returns it, with its id and other fields that the server sets. `POST /blog/article` */
	create<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		values: Input,
		options?: CreateOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('POST', NO_ID, values, options)
	}

	/** Creates several records, all or none, where the server allows it; returns them in their order. `POST /blog/article` */
	createMany<F extends FieldPath<T, R> = FieldName<T>>(
		values: readonly Input[],
		options?: CreateOptions<T, R, F, never>,
	): Promise<Selected<T, R, F, never>[]> {
		return this.many('POST', values, options)
	}

	/** Changes several records, all or none, each with its key and the fields to change; returns them. `PATCH /blog/article` */
	updateMany<F extends FieldPath<T, R> = FieldName<T>>(
		records: readonly Changed<T, Input>[],
		options?: CreateOptions<T, R, F, never>,
	): Promise<Selected<T, R, F, never>[]> {
		return this.many('PATCH', records, options)
	}

	/** Deletes the records that match, all or none; returns their ids, lists `K` for a key of several fields. `DELETE /blog/article?…` */
	async removeMany<K extends Id | readonly Id[] = Id>(
		query: Omit<SelectionQuery<T, R>, 'deleted'>,
		options?: KeyedOptions,
	): Promise<K[]> {
		const ids = await listIn<K>(keyedCallOf(options, encodeDeletion(this.url, query)), this.settings)
		return this.key.length === 1 ? ids : ids.map((id) => (idIn(String(id)) ?? id) as K)
	}

	/**
	 * Creates records, or changes existing ones with the same values in the unique fields `on`, where the server allows it;
	 * absent fields keep their values. All or none; returns them in the given order. `PUT /blog/article?on=slug`
	 */
	upsert<F extends FieldPath<T, R> = FieldName<T>>(
		values: readonly Input[],
		on: FieldName<T> | readonly FieldName<T>[],
		options?: CreateOptions<T, R, F, never>,
	): Promise<Selected<T, R, F, never>[]> {
		return this.many('PUT', values, options, `?on=${encodeURIComponent(String(on))}`)
	}

	/** Changes the given fields and returns the record. `PATCH /blog/article/5` */
	update<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		of: RecordOrId<T>,
		values: Partial<Input>,
		options?: ChangeOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('PATCH', of, values, options)
	}

	/** Sets all fields, absent ones to their defaults, and returns the record. `PUT /blog/article/5` */
	replace<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		of: RecordOrId<T>,
		values: Input,
		options?: ChangeOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('PUT', of, values, options)
	}

	/** Deletes a record and returns it as it was. `DELETE /blog/article/5` */
	delete<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		of: RecordOrId<T>,
		options?: ChangeOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('DELETE', of, undefined, options)
	}

	/** Restores a deleted record, where the server keeps those, and returns it. `POST /blog/article/5/restore` */
	restore<F extends FieldPath<T, R> = FieldName<T>, const I extends Include<T, R> = never>(
		of: RecordOrId<T>,
		options?: ChangeOptions<T, R, F, I>,
	): Promise<Selected<T, R, F, I>> {
		return this.record<F, I>('POST', of, undefined, options, '/restore')
	}

	/**
	 * A client for one relation of a record: its list, or its single record. Sends no request itself; the client's methods
	 * do.
	 *
	 *     await articles.related(7, 'comments').list({ limit: 3 })  // GET /blog/article/7/comments?limit=3
	 *     await articles.related(7, 'comments').create({ text: 'Mine, too' })
	 *     await articles.related(7, 'author').get()                 // GET /blog/article/7/author
	 *     await articles.related(7, 'tags').tie(3)                  // PUT /blog/article/7/tags/3
	 *
	 * @param options `key` of the related records, if it isn't `id`: `tie()` and `untie()` of records need it
	 * @throws TypeError for an id that can't be one
	 */
	related<K extends RelationName<R>>(
		of: RecordOrId<T>,
		name: K,
		options: Pick<CrudClientOptions, 'key'> = {},
	): RelatedClient<R[K]> {
		const { key: _key, ...settings }: CrudClientOptions = this.settings
		const url = `${this.url}/${segmentOf(idOf(of, this.key))}`
		const client = new CrudClient(name, url, { ...settings, ...options })
		client.isKeyKnown = options.key !== undefined
		const send = async (method: 'PUT' | 'DELETE', other: unknown, options?: CallOptions) => {
			// Passes the id, so that the record's ETag isn't sent as If-Match: it says nothing about relations.
			await client.record(method, idOf(other, client.key) as Id, undefined, options)
		}
		const more = {
			get: (options?: RecordOptions<object>) => client.record('GET', NO_ID, undefined, options),
			tie: (other: unknown, options?: CallOptions) => send('PUT', other, options),
			untie: (other: unknown, options?: CallOptions) => send('DELETE', other, options),
		}
		return Object.assign(client, more) as unknown as RelatedClient<R[K]> // of the type that the program declared
	}

	private async many<F extends FieldPath<T, R>>(
		method: 'POST' | 'PATCH' | 'PUT',
		body: readonly unknown[],
		options: CreateOptions<T, R, F, never> = {},
		below = '',
	): Promise<Selected<T, R, F, never>[]> {
		if (!Array.isArray(body)) throw new TypeError(`${method} ${this.url}: the records must be an array`)
		const { call } = recordCall({ method, url: this.url, key: this.key, of: NO_ID, body, options, below })
		return listIn(call, this.settings)
	}

	private async record<F extends FieldPath<T, R>, I extends Include<T, R>>(
		method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
		of: RecordOrId<T> | typeof NO_ID,
		body: unknown,
		options: ChangeOptions<T, R, F, I> & CreateOptions<T, R, F, I> = {},
		below = '',
	): Promise<Selected<T, R, F, I>> {
		const { call, id, url } = recordCall({ method, url: this.url, key: this.key, of, body, options, below })
		try {
			const { data, response } = await send(call, this.settings)
			const own = this.isKeyKnown && isRecord(data) ? valuesOf(data, this.key) : undefined
			setOrigin(data, url, id ?? own ?? idIn(response.headers.get('Location')), response.headers.get('ETag'))
			return data as Selected<T, R, F, I> // of the type that the program declared
		} catch (error) {
			// Not modified: the given record is current, with the same fields (RFC 9110 §15.4.5).
			if (error instanceof ApiError && error.status === 304 && 'If-None-Match' in (call.conditions ?? {}))
				return of as Selected<T, R, F, I>
			throw error
		}
	}
}
