/**
 * Parses the query of a list, from a URL, a form or the JSON of a QUERY, into a model's query: conditions, order, selection,
 * limit, and offset or cursor. Called by `asked.ts` and `totals/`.
 */

import { attempt } from '../base/attempt.ts'
import type { Condition, Field, ListQuery, Order } from '../models/model.ts'
import type { Fields } from '../request/body/form.ts'
import { checkParsed } from '../request/body/json.ts'
import type { Detail } from '../wire/codes.ts'
import { cursorOffset, cursorValues, stampOf } from './cursor.ts'
import type { CrudField, Sorted } from './fields.ts'
import { filterCondition, namesFor, RelatedTerms, searchCondition } from './filter.ts'
import { comparison, fieldCondition, TermCounter, takesList } from './filter-comparison.ts'
import { orderOf } from './order.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, badValue, countOf, unknownName, wholeNumber } from './query-values.ts'
import {
	type Include,
	NO_INCLUDE,
	type Requested,
	refuseTooMany,
	requestedOf,
} from './relations/parse-include.ts'
import { type NonNullValue, valueFromText } from './value-from-text.ts'

/** The query of `list()`, with the model's field names. */
export interface CrudQuery extends Omit<ListQuery, 'limit' | 'maxBytes'> {
	/** 0 counts the records without reading any. */
	readonly limit: number
	/** The related records to include in each record. @default none @internal */
	readonly include?: readonly Include[]
	/** Whether deleted records are listed, with the option `softDelete`. @default false @internal */
	readonly isDeleted?: boolean
	/** A hash of order and conditions: a cursor is only valid with the same ones. */
	readonly stamp: string
}

/** `title[contains]`. */
const BRACKETED = /^(.*)\[([^[\]]*)\]$/s

/** The query of a list without parameters. */
export function defaultQuery(plan: CrudPlan): CrudQuery {
	const order = frozenOrder(orderOf(plan, undefined, new TermCounter(plan)))
	return Object.freeze({
		...{ selection: plan.selections.all, where: undefined, order, limit: plan.listLimit, offset: 0 },
		...{ after: undefined, total: false, include: NO_INCLUDE, stamp: stampOf(order, undefined) },
	})
}

/** Frozen, because an override that changed it would change it for later requests. */
function frozenOrder(order: readonly Order[]): readonly Order[] {
	return Object.freeze(order.map((term) => Object.freeze(term)))
}

/** Completes a query from code with defaults. A request's own query is already complete. */
export function completeQuery(defaults: CrudQuery, given: Partial<CrudQuery> = defaults): CrudQuery {
	if (given.stamp !== undefined) return given as CrudQuery // only complete queries have a stamp
	const query = { ...defaults, ...given }
	return { ...query, stamp: stampOf(query.order, query.where) }
}

/** Collects the parameters of one request: its conditions, parsed, and the other parameters as they were sent. */
export class QueryParams {
	readonly #plan: CrudPlan
	readonly #parameters: readonly string[]
	readonly #offered: readonly string[]
	readonly #owner: string
	readonly #count: TermCounter
	readonly #terms = new RelatedTerms()
	readonly #settings = new Map<string, unknown>()

	/**
	 * @param parameters names that aren't conditions
	 * @param owner what they are parameters of, for messages
	 * @param offered the parameters that messages list
	 */
	constructor(plan: CrudPlan, parameters: readonly string[], owner = 'this list', offered = parameters) {
		this.#plan = plan
		this.#parameters = parameters
		this.#offered = offered
		this.#owner = owner
		this.#count = new TermCounter(plan)
	}

	/** Limits the comparisons of the request. */
	get count(): TermCounter {
		return this.#count
	}

	/** A parameter as it was sent; `undefined` if it wasn't. */
	setting(name: string): unknown {
		return this.#settings.get(name)
	}

	/** The condition of all filters; `undefined` for none. */
	condition(): Condition | undefined {
		return this.#terms.condition()
	}

	/**
	 * Adds the parameters of a URL or a form.
	 *
	 * @throws RestError `bad_request` for an unknown name, and for a value that isn't of its field's type
	 */
	addText(fields: Fields): void {
		for (const name of Object.keys(fields.last)) {
			if (this.#plan.ignoreQuery.has(name)) continue
			const values = fields.all(name)
			const [first = ''] = values
			const parameter = this.#parameter(name)
			if (parameter === undefined) this.#addComparison(name, values)
			else if (LISTS.has(parameter) && !first.trimStart().startsWith('{'))
				this.#addParameter(parameter, values.join())
			else if (values.length > 1) throw badQuery(name, 'repeated', 'is given more than once')
			else this.#addParameter(parameter, JSONS.has(parameter) ? parsedJson(parameter, first) : first)
		}
	}

	/**
	 * Adds the fields of a QUERY's body. The URL's parameters take precedence, so that a `Link` can be followed with the same
	 * body.
	 *
	 * @throws RestError `bad_request` as `addText`
	 */
	addJson(body: Readonly<Record<string, unknown>>): void {
		const hasPosition = this.#settings.has('cursor') || this.#settings.has('offset')
		for (const [name, value] of Object.entries(body)) {
			// A position in the URL replaces the body's, which belongs to the first page.
			if (hasPosition && (name === 'cursor' || name === 'offset')) continue
			const parameter = this.#parameter(name)
			if (parameter !== undefined) this.#addParameter(parameter, value)
			else {
				const { field, terms } = this.#field(name, name)
				terms.add(fieldCondition(field, value, this.#count, name))
			}
		}
	}

	/**
	 * @param atOnce maximum number of records that are read at once
	 * @param isPart whether the body may still add to it: then neither the cursor nor the number of records is checked
	 * @throws RestError `bad_request` for an invalid value, naming its parameter
	 */
	query(atOnce = this.#plan.maxLimit, isPart = false): CrudQuery {
		const plan = this.#plan
		const settings = this.#settings
		const sorted = this.#sorted(settings.get('sort'))
		const { order } = sorted
		const where = this.#terms.condition()
		const stamp = where === undefined ? sorted.stamp : stampOf(order, where)
		const cursor = settings.get('cursor')
		const offset = settings.has('offset') ? wholeNumber('offset', settings.get('offset')) : 0
		if (!Number.isSafeInteger(offset)) throw badQuery('offset', 'max', 'must be at most 9007199254740991')
		if (cursor !== undefined && settings.has('offset'))
			throw badQuery('offset', 'cursor', "can't be combined with cursor")
		const limit = settings.has('limit') ? wholeNumber('limit', settings.get('limit')) : plan.listLimit
		const { selection, include, isDeleted } = this.requested(isPart ? 0 : Math.min(limit, atOnce))
		const counted = countOf('count', settings.get('count'))
		const position =
			cursor === undefined || isPart ? { offset, after: undefined } : positionOf(plan, cursor, stamp, order)
		const query: { -readonly [Name in keyof CrudQuery]: CrudQuery[Name] } = {
			selection,
			include,
			where,
			order,
			stamp,
			offset: position.offset,
			after: position.after,
			limit: Math.min(limit, plan.maxLimit),
			total: counted !== undefined || limit === 0,
		}
		if (isDeleted === true) query.isDeleted = true
		if (counted !== undefined && counted !== Number.POSITIVE_INFINITY) query.maxTotal = counted
		return query
	}

	/**
	 * @param limit number of records in the response
	 * @throws RestError `bad_request` for an invalid value of `fields` or `include`, and for too many related records
	 */
	requested(limit = 1): Requested {
		const { include, selection } = requestedOf(
			this.#plan,
			this.#settings.get('fields'),
			this.#settings.get('include'),
			this.#count,
		)
		refuseTooMany(include, limit)
		if (!this.#settings.has('deleted')) return { selection, include }
		if (this.#settings.get('deleted') !== 'only') throw badQuery('deleted', 'in', 'must be only')
		return { selection, include, isDeleted: true }
	}

	/** The order, and the stamp of a list without conditions. Both are shared by requests with the same `sort`. */
	#sorted(asked: unknown): Sorted {
		const { orders } = this.#plan.selections
		const isCached = asked === undefined || (typeof asked === 'string' && asked.length <= MAX_SORT_LENGTH)
		// A copy: a part of the request's text would keep the whole text in memory.
		const key = isCached ? JSON.stringify(asked ?? null) : undefined
		const known = key === undefined ? undefined : orders.find(key)
		if (known !== undefined) return known
		const order = frozenOrder(orderOf(this.#plan, asked, this.#count))
		const sorted = { order, stamp: stampOf(order, undefined) }
		// Not with relations: those of each request are counted.
		if (key !== undefined && order.every(({ via }) => via === undefined)) orders.keep(key, sorted)
		return sorted
	}

	#parameter(name: string): string | undefined {
		return this.#parameters.includes(name) ? name : undefined
	}

	#addParameter(name: string, value: unknown): void {
		const { searchable } = this.#plan
		if (name === 'filter') this.#terms.add(filterCondition(value, this.#plan, this.#count))
		else if (name === 'search') {
			if (typeof value !== 'string') throw badQuery('search', 'string', 'must be a string')
			const condition = searchCondition(value, searchable, this.#count)
			if (condition !== undefined) this.#terms.add(condition)
		} else if (!this.#settings.has(name)) this.#settings.set(name, value)
	}

	/** `field=value`, repeated for a list of values, and `field[op]=value`. */
	#addComparison(name: string, values: readonly string[]): void {
		const [, base = name, op = 'eq'] = this.#plan.filterable.has(name) ? [] : (BRACKETED.exec(name) ?? [])
		const { field, terms } = this.#field(base, name)
		const add = (operator: string, given: unknown) => {
			terms.add(comparison(field, operator, given, this.#count, name, textOperand(name)))
		}
		if (op === 'eq') add('in', values)
		else
			for (const text of values)
				add(op, takesList(op) ? text.split(',') : op === 'null' ? boolean(text) : text)
	}

	/** @throws RestError `bad_request`, with the same message for unknown, hidden and unfilterable fields */
	#field(name: string, place: string): { readonly field: CrudField; readonly terms: RelatedTerms } {
		const found = this.#terms.find(this.#plan, name, this.#count, place)
		if (found !== undefined) return found
		const { below, names } = namesFor(this.#plan, name, '.…')
		const all = below === '' ? [...this.#offered, ...names] : names
		throw unknownName(place, `is not a parameter of ${this.#owner}: ${below}it takes`, all)
	}
}

/** Longer texts aren't cached, because clients choose them. */
const MAX_SORT_LENGTH = 200

/** Parameters whose value is a list of names. Some clients repeat them for each name. */
const LISTS: ReadonlySet<string> = new Set(['sort', 'fields', 'include', 'by', 'sum', 'avg', 'min', 'max'])

/** Parameters whose value is JSON. */
const JSONS: ReadonlySet<string> = new Set(['filter', 'having'])

function textOperand(place: string): (field: Field, text: unknown) => NonNullValue {
	return (field, text) => {
		const problems: Detail[] = []
		const value = valueFromText(field, String(text), problems)
		if (value === undefined) throw badValue(place, problems)
		return value
	}
}

/** Converts `true` and `false` to booleans; returns any other text unchanged. */
function boolean(text: string): unknown {
	return text === 'true' || text === 'false' ? text === 'true' : text
}

function parsedJson(name: string, text: string): unknown {
	const value = attempt<unknown>(() => JSON.parse(text))
	if (value === undefined) throw badQuery(name, 'json', 'is malformed JSON')
	// The limits of JSON bodies apply here too.
	checkParsed(value)
	return value
}

/**
 * The position that a cursor stands for. If the key is hidden, the cursor holds an offset: clients could read key
 * values from it otherwise, or probe for them.
 */
function positionOf(
	plan: CrudPlan,
	cursor: unknown,
	stamp: string,
	order: readonly Order[],
): Pick<CrudQuery, 'offset' | 'after'> {
	if (typeof cursor !== 'string') throw badQuery('cursor', 'string', 'must be a string')
	if (plan.isKeyVisible) return { offset: 0, after: cursorValues(cursor, stamp, order, plan.fields) }
	return { offset: cursorOffset(cursor, stamp), after: undefined }
}
