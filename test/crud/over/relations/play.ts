/** Sends requests to one store; embedded lists are compared with lists of their own on the way. */
import { deepStrictEqual } from 'node:assert/strict'
import type { InjectedReply } from '../../../../lib/index.ts'
import { type Ask, allRows } from '../things.ts'
import { manyOf, queryOf, type Settings, type Step } from './any-request.ts'
import { serve } from './handlers.ts'
import type { Models, Rows, Store } from './stores.ts'

/** The maximum number of pages followed. */
const MOST_PAGES = 3

/** One response. */
export interface Told {
	readonly request: string
	readonly status: number
	readonly headers: Readonly<Record<string, unknown>>
	readonly body: unknown
}

interface EmbeddedList {
	readonly data: readonly unknown[]
	readonly meta: { readonly limit: number; readonly next: unknown; readonly total?: number }
}

/** A store with a server, to which sequences are sent. */
export class Player {
	readonly store: Store
	#models: Models | undefined
	#ask: Ask | undefined

	constructor(store: Store) {
		this.store = store
	}

	/** Sends a sequence, starting with these records; the tables that it leaves come last, hidden fields too. */
	async play(rows: Rows, steps: readonly Step[]): Promise<Told[]> {
		const models = await this.store.filled(rows)
		if (this.#models !== models) this.#ask = undefined
		this.#models = models
		this.#ask ??= serve(models).ask
		const told: Told[] = []
		for (const step of steps) {
			const before = step.path.endsWith('/batch') ? await this.#rows() : undefined
			const replies = await this.#step(this.#ask, step)
			told.push(...replies)
			// A transaction that is rolled back must leave nothing, whatever the other stores do.
			if (before !== undefined && !replies.some(({ status, body }) => status === 200 && !isUndone(body)))
				deepStrictEqual(
					await this.#rows(),
					before,
					`${this.store.name}: something is left of ${replies[0]?.request}`,
				)
		}
		return [...told, { request: 'the tables', status: 200, headers: {}, body: await this.#rows() }]
	}

	#rows(): Promise<unknown> {
		return Promise.all(Object.values(this.#models ?? {}).map(allRows))
	}

	async #step(
		ask: Ask,
		{ method, of, path, query, settings, headers, body, follows }: Step,
	): Promise<Told[]> {
		const replies: Told[] = []
		const sent =
			body === undefined
				? { headers }
				: { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
		for (
			let page = 0, url: string | undefined = path + query;
			url !== undefined && page < MOST_PAGES;
			page++
		) {
			const reply = await ask({ method, url, ...sent })
			const one = toldOf(
				`${method} ${decodeURIComponent(path + query)} ${JSON.stringify(sent)} page ${page}`,
				reply,
			)
			replies.push(one)
			if (follows && page === 0 && settings !== undefined)
				replies.push(...(await this.#lists(ask, of, settings, headers, one)))
			url = follows ? nextOf(reply) : undefined
		}
		return replies
	}

	/** Compares embedded lists with the same lists by themselves; returns their further pages. */
	async #lists(
		ask: Ask,
		of: string,
		settings: Settings,
		headers: Step['headers'],
		{ request, status, body }: Told,
	): Promise<Told[]> {
		if (status !== 200) return []
		const replies: Told[] = []
		const { data } = body as { data: unknown } // every success has data
		const records = (Array.isArray(data) ? data : [data]) as Readonly<Record<string, unknown>>[]
		for (const record of records.slice(0, 2)) {
			if (record.id === undefined) continue
			for (const name of manyOf(of)) {
				const embedded = record[name] as EmbeddedList | undefined
				const asked = settings.include?.[name]
				if (embedded === undefined || asked === undefined || embedded.meta.limit === 0) continue
				const own = { ...(asked === true ? {} : asked), limit: embedded.meta.limit }
				const path = `/${of}/${record.id}/${name}`
				const get = async (url: string) =>
					toldOf(`GET ${decodeURIComponent(url)}`, await ask({ method: 'GET', url, headers }))
				const first = await get(path + queryOf(own))
				const { data: same, meta } = first.body as EmbeddedList
				const seen = { data: same, next: meta?.next, total: meta?.total }
				deepStrictEqual(
					seen,
					{ data: embedded.data, next: embedded.meta.next, total: embedded.meta.total },
					`${this.store.name}: ${first.request} differs from what is embedded by ${request}: ${JSON.stringify(seen)}`,
				)
				if (embedded.meta.next === null) continue
				replies.push(await get(`${path}${queryOf(own)}&cursor=${cursorOf(embedded.meta.next)}`))
			}
		}
		return replies
	}
}

function toldOf(request: string, { status, headers, body, text }: InjectedReply): Told {
	const { etag, link, location, allow, 'x-total-count': total, 'content-type': type } = headers
	return {
		...{ request, status, headers: { etag, location, allow, total, type, link: link !== undefined } },
		body: body.length === 0 ? '' : comparable(JSON.parse(withoutReference(text()))),
	}
}

/** SQLite doesn't report which reference is broken, and of several each database reports another. */
function withoutReference(text: string): string {
	return /"code":"(?:foreign_key|conflict)","message"|"error":"Conflicts with/.test(text)
		? '{"code":"conflict"}'
		: text
}

/** The same value without the request's id, and with what cursors say: each store has its own spaces in them. */
function comparable(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(comparable)
	if (typeof value !== 'object' || value === null) return value
	return Object.fromEntries(
		Object.entries(value).map(([name, own]) => {
			if (name === 'requestId') return [name, 'one of its own']
			if (name === 'next' && typeof own === 'string') return [name, cursorTexts(own)]
			return [name, comparable(own)]
		}),
	)
}

function cursorTexts(cursor: string): unknown {
	return JSON.parse(Buffer.from(cursor, 'base64url').toString())
}

function cursorOf(texts: unknown): string {
	return Buffer.from(JSON.stringify(texts)).toString('base64url')
}

function isUndone(body: unknown): boolean {
	const { data } = body as { data: object } // every success has data
	return 'undone' in data
}

function nextOf({ headers }: InjectedReply): string | undefined {
	return /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1]
}
