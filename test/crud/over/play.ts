/** Sends sequences of requests to one store, and describes the responses so that all stores' can be compared. */
import { deepStrictEqual } from 'node:assert/strict'
import type { InjectedReply, InjectedRequest, Values } from '../../../lib/index.ts'
import type {
	Condition,
	ListQuery,
	Model,
	Selection,
	TotalsQuery,
	Upsert,
	Within,
} from '../../../lib/models/index.ts'
import { Passing } from '../../testing/broken-models.ts'
import type { Step } from './any-request.ts'
import type { Store } from './stores.ts'
import { type Ask, type Asked, allRows } from './things.ts'

/** The maximum number of pages followed. */
const MOST_PAGES = 4

/** One response, with each id replaced by the record's number. */
export interface Told {
	readonly request: string
	readonly status: number
	readonly headers: Readonly<Record<string, unknown>>
	readonly body: unknown
}

/** Creates records whose first version is the same in all stores. */
class Beginning extends Passing {
	get unique() {
		return this.inner.unique ?? []
	}

	get setsNow() {
		return this.inner.setsNow === true
	}

	override list(query: ListQuery) {
		return super.list({ ...query, where: linked(query.where), order: linked(query.order) })
	}

	override count(where: Condition | undefined) {
		return super.count(linked(where))
	}

	lock(id: string, selection: Selection, where: Condition | undefined) {
		return this.inner.lock?.(id, selection, where) ?? this.inner.read(id, selection, where)
	}

	override create(values: Values, selection: Selection) {
		return super.create(first(values), selection)
	}

	createMany(values: readonly Values[], selection: Selection) {
		return this.inner.createMany?.(values.map(first), selection) ?? Promise.reject(new Error('no createMany'))
	}

	upsert(given: Upsert, selection: Selection) {
		const all = { ...given, values: first(given.values) }
		return this.inner.upsert?.(all, selection) ?? Promise.reject(new Error('no upsert'))
	}

	totals(query: TotalsQuery) {
		const all = { ...query, by: linked(query.by), where: linked(query.where) }
		return this.inner.totals?.(all) ?? Promise.reject(new Error('no totals'))
	}

	references(other: Model) {
		return this.inner.references?.(innerOf(other)) ?? []
	}

	joins(other: Model) {
		return this.inner.joins?.(innerOf(other)) === true
	}

	transactsWith(other: Model) {
		return this.inner.transactsWith?.(innerOf(other)) === true
	}

	override transaction<T>(work: (model: Model) => Promise<T>): Promise<T> {
		return super.transaction((inner) => work(new Beginning(inner)))
	}

	transactionWith<T>(others: readonly Model[], work: (within: Within) => Promise<T>): Promise<T> {
		const begun = this.inner.transactionWith?.(others.map(innerOf), (within) => {
			const known = new Map<Model, Model>()
			const of = (model: Model) => {
				const inner = within.of(innerOf(model))
				const same = known.get(inner) ?? new Beginning(inner)
				known.set(inner, same)
				return same
			}
			return work({ connection: within.connection, of })
		})
		return begun ?? Promise.reject(new Error('no transactionWith'))
	}
}

function innerOf(model: Model): Model {
	return model instanceof Beginning ? model.inner : model
}

/** The same with links to the models of the store. */
function linked<T>(part: T): T {
	const copy = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(copy)
		if (!isPlain(value)) return value
		return Object.fromEntries(
			Object.entries(value).map(([name, own]) => [
				name,
				name === 'link' ? { ...own, model: innerOf(own.model) } : copy(own),
			]),
		)
	}
	return copy(part) as T // all but the models is the same
}

function isPlain(value: unknown): value is Readonly<Record<string, { readonly model: Model }>> {
	return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function first(values: Values): Values {
	return { ...values, version: 1 }
}

/** A store with a server, to which sequences are sent. */
export class Player {
	readonly store: Store
	readonly #serve: (model: Model) => Asked
	/** Whether a record has the same id in all stores. */
	readonly #sameIds: boolean
	#served: Asked | undefined
	#model: Model | undefined
	/** Ids in the order of creation. */
	#ids: string[] = []

	constructor(store: Store, serve: (model: Model) => Asked, sameIds = false) {
		this.store = store
		this.#serve = serve
		this.#sameIds = sameIds
	}

	/** Sends a sequence, starting with the empty table; the table that it leaves comes last, hidden fields too. */
	async play(steps: readonly Step[]): Promise<Told[]> {
		const model = await this.store.emptied()
		if (this.#model !== model) this.#served = undefined
		this.#model = model
		this.#served ??= this.#serve(new Beginning(model))
		this.#ids = []
		const told: Told[] = []
		for (const step of steps) told.push(...(await this.#step(this.#served.ask, step)))
		const left = (await allRows(model)).map((row) => ({ ...row, deleted: (row.deleted ?? null) !== null }))
		return [...told, { request: 'the table', status: 200, headers: {}, body: this.#same(left) }]
	}

	async #step(ask: Ask, step: Step): Promise<Told[]> {
		const url = step.url.replaceAll(/\{\{(\d+)\}\}/g, (_, n: string) => this.#id(Number(n)))
		const body = step.body?.replaceAll(/"\{\{(\d+)\}\}"/g, (_, n: string) => this.#id(Number(n)))
		const request = { method: step.method, headers: step.headers, ...(body === undefined ? {} : { body }) }
		const replies: Told[] = []
		for (let page = 0, at: string | undefined = url; at !== undefined && page < MOST_PAGES; page++) {
			const reply = await this.#asked(ask, { ...request, url: at })
			const { location } = reply.headers
			if (reply.status === 201 && typeof location === 'string')
				this.#ids.push(location.slice(location.lastIndexOf('/') + 1))
			replies.push(this.#told(step, page, reply))
			at = step.follows ? nextOf(reply) : undefined
		}
		return replies
	}

	/** A transaction that is rolled back must leave nothing, whatever the other stores do. */
	async #asked(ask: Ask, request: InjectedRequest & { readonly url: string }): Promise<InjectedReply> {
		if (!request.url.includes('/batch')) return ask(request)
		const rows = () => allRows(this.#model ?? this.store.model)
		const before = await rows()
		const reply = await ask(request)
		if (reply.status !== 200 || reply.text().includes('"data":{"undone"'))
			deepStrictEqual(await rows(), before, `${this.store.name}: something is left of ${request.body}`)
		return reply
	}

	#id(n: number): string {
		return this.#ids[n] ?? (this.#sameIds ? `1999-01-01,none,${n}` : `90000000${n}`)
	}

	#told(step: Step, page: number, { status, headers, body, text }: InjectedReply): Told {
		const { etag, link, location, allow, 'x-total-count': total, 'content-type': type } = headers
		return {
			request: `${step.method} ${step.url} ${JSON.stringify(step.headers)} ${step.body ?? ''} page ${page}`,
			status,
			headers: {
				...{ etag, allow, total, type, link: link !== undefined },
				location:
					typeof location === 'string' && !this.#sameIds
						? this.#nth(location.replace(/^.*\//, ''))
						: location,
			},
			body: body.length === 0 ? '' : this.#same(JSON.parse(withoutReference(this.#withoutIds(step, text())))),
		}
	}

	/** Of several that are deleted, the one that can't be is named by its id. */
	#withoutIds({ method }: Step, text: string): string {
		if (method !== 'DELETE') return text
		return text.replace(/(?<="(?:error|field)":")\d+(?=[:"])/g, (id) => this.#nth(id))
	}

	/** A record of a list, which has no `Location`, is numbered where it is seen first. */
	#nth(id: unknown): string {
		const text = String(id)
		const at = this.#ids.indexOf(text)
		if (at !== -1) return `record ${at}`
		return text.startsWith('90000000') ? text : `record ${this.#ids.push(text) - 1}`
	}

	/** The same value with record numbers for ids, and only the presence of a cursor. */
	#same(value: unknown): unknown {
		if (Array.isArray(value)) return value.map((one) => this.#same(one))
		if (typeof value !== 'object' || value === null) return value
		return Object.fromEntries(
			Object.entries(value).map(([name, own]) => {
				if ((name === 'id' || name === 'parent') && typeof own === 'number') return [name, this.#nth(own)]
				if (name === 'data' && Array.isArray(own))
					return [name, own.map((one) => (typeof one === 'number' ? this.#nth(one) : this.#same(one)))]
				if (name === 'next' && typeof own === 'string') return [name, 'a cursor']
				if (name === 'requestId') return [name, 'one of its own']
				return [name, this.#same(own)]
			}),
		)
	}
}

/** SQLite doesn't report which reference is broken. */
function withoutReference(text: string): string {
	const message = 'refers to a record that does not exist'
	const told = 'Conflicts with existing records'
	return text
		.replace(
			`"parent ${message}","code":"conflict","details":[{"field":"parent","code":"foreign_key","message":"${message}"}]`,
			`"${told}","code":"conflict"`,
		)
		.replace(
			new RegExp(
				`"(\\d+)\\.parent ${message}","code":"conflict","details":\\[{"field":"\\1.parent","code":"foreign_key","message":"${message}"}\\]`,
			),
			`"$1: ${told}","code":"conflict","details":[{"field":"$1","code":"conflict","message":"${told}"}]`,
		)
}

function nextOf({ headers }: InjectedReply): string | undefined {
	return /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1]
}
