/**
 * Parses the query of a list, from a URL, a form or the JSON of a QUERY, to what models take: conditions, order, selection,
 * limit, and offset or cursor. Called by `operations.ts`.
 */

import type { Condition, Field, ListQuery, Order, Selection } from '../models/model.ts'
import type { Fields } from '../request/body/form.ts'
import { checkParsed } from '../request/body/json.ts'
import type { Detail } from '../wire/codes.ts'
import { PARAMETERS } from '../wire/list.ts'
import { badQuery, badValue, unknownName } from './bad-query.ts'
import { cursorOffset, cursorValues, stampOf } from './cursor.ts'
import type { CrudField, FieldMap } from './fields.ts'
import {
	allOf,
	comparison,
	fieldCondition,
	filterCondition,
	searchCondition,
	TermCounter,
	takesList,
} from './filter.ts'
import type { CrudPlan } from './plan.ts'
import { type NonNullValue, valueFromText } from './value-from-text.ts'

/** The query of `list()`, with the model's field names. */
export interface CrudQuery extends Omit<ListQuery, 'limit' | 'maxBytes'> {
	/** 0 counts the records without reading any. */
	readonly limit: number
	/** A hash of order and conditions: a cursor is only valid with the same ones. */
	readonly stamp: string
}

type Parameter = (typeof PARAMETERS)[number]

/** The parameters of a list without searchable fields. */
const UNSEARCHABLE = PARAMETERS.filter((name) => name !== 'search')
/** `title[contains]`. */
const BRACKETED = /^(.*)\[([^[\]]*)\]$/s
const WHOLE = /^(?:0|[1-9]\d*)$/

/** The query of a list without parameters. */
export function defaultQuery(plan: CrudPlan): CrudQuery {
	const order = orderOf(plan, [])
	return Object.freeze({
		...{ selection: plan.selections.all, where: undefined, order, limit: plan.limit, offset: 0 },
		...{ after: undefined, total: false, stamp: stampOf(order, undefined) },
	})
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
	readonly #count: TermCounter
	readonly #terms: Condition[] = []
	readonly #settings = new Map<Parameter, unknown>()

	constructor(plan: CrudPlan) {
		this.#plan = plan
		this.#count = new TermCounter(plan)
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
			// Some clients repeat the parameter for each item of an array: `sort=title&sort=-id` is `sort=title,-id`.
			else if (parameter === 'sort' || parameter === 'fields') this.#addParameter(parameter, values.join())
			else if (values.length > 1) throw badQuery(name, 'repeated', 'is given more than once')
			else this.#addParameter(parameter, parameter === 'filter' ? parsedFilter(first) : first)
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
			else this.#terms.push(fieldCondition(this.#field(name, name), value, this.#count, name))
		}
	}

	/** @throws RestError `bad_request` for an invalid value, naming its parameter */
	query(): CrudQuery {
		const plan = this.#plan
		const settings = this.#settings
		const order = orderOf(plan, settings.has('sort') ? names('sort', settings.get('sort')) : [])
		const where = allOf(...this.#terms)
		const stamp = stampOf(order, where)
		const cursor = settings.get('cursor')
		const offset = settings.has('offset') ? wholeNumber('offset', settings.get('offset')) : 0
		if (!Number.isSafeInteger(offset)) throw badQuery('offset', 'max', 'must be at most 9007199254740991')
		if (cursor !== undefined && settings.has('offset'))
			throw badQuery('offset', 'cursor', "can't be combined with cursor")
		const limit = settings.has('limit') ? wholeNumber('limit', settings.get('limit')) : plan.limit
		return {
			selection: selectionOf(plan, settings.get('fields')),
			...{ where, order, stamp },
			...(cursor === undefined ? { offset, after: undefined } : positionOf(plan, cursor, stamp, order)),
			limit: Math.min(limit, plan.maxLimit),
			total: isCounted(settings.get('count')) || limit === 0,
		}
	}

	#parameter(name: string): Parameter | undefined {
		return this.#parameters().find((one) => one === name)
	}

	#parameters(): readonly Parameter[] {
		return this.#plan.searchable.size > 0 ? PARAMETERS : UNSEARCHABLE
	}

	#addParameter(name: Parameter, value: unknown): void {
		const { filterable, searchable } = this.#plan
		if (name === 'filter') this.#terms.push(filterCondition(value, filterable, this.#count))
		else if (name === 'search') {
			if (typeof value !== 'string') throw badQuery('search', 'string', 'must be a string')
			const condition = searchCondition(value, searchable, this.#count)
			if (condition !== undefined) this.#terms.push(condition)
		} else if (!this.#settings.has(name)) this.#settings.set(name, value)
	}

	/** `field=value`, repeated for a list of values, and `field[op]=value`. */
	#addComparison(name: string, values: readonly string[]): void {
		const [, base = name, op = 'eq'] = this.#plan.filterable.has(name) ? [] : (BRACKETED.exec(name) ?? [])
		const field = this.#field(base, name)
		const add = (operator: string, given: unknown) => {
			this.#terms.push(comparison(field, operator, given, this.#count, name, textOperand(name)))
		}
		if (op === 'eq') add('in', values)
		else
			for (const text of values)
				add(op, takesList(op) ? text.split(',') : op === 'null' ? boolean(text) : text)
	}

	/** @throws RestError `bad_request`, with the same message for unknown, hidden and unfilterable fields */
	#field(name: string, place: string): CrudField {
		const { filterable } = this.#plan
		const field = filterable.get(name)
		if (field !== undefined) return field
		const all = [...this.#parameters(), ...filterable.keys()]
		throw unknownName(place, 'is not a parameter of this list: it takes', all)
	}
}

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

function parsedFilter(text: string): unknown {
	let value: unknown
	try {
		value = JSON.parse(text)
	} catch {
		throw badQuery('filter', 'json', 'is malformed JSON')
	}
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

/**
 * The fields that the client asks for; all visible ones by default.
 *
 * @throws RestError `bad_request`, with the same message for a hidden field and an unknown one
 */
export function selectionOf({ visible, selections }: CrudPlan, given: unknown): Selection {
	if (given === undefined) return selections.all
	const requested = new Set<string>()
	for (const name of names('fields', given)) requested.add(fieldNamed('fields', name, visible).name)
	if (requested.size === 0) throw badQuery('fields', 'min', 'must name at least one field')
	return selections.of(requested)
}

/** The sort order. The key is added as its last term, in the direction of the term before it, so that the order is total. */
function orderOf({ keys, sortable }: CrudPlan, terms: readonly string[]): readonly Order[] {
	const order: Order[] = []
	for (const term of terms) {
		const descending = term.startsWith('-') && !sortable.has(term)
		const { field } = fieldNamed('sort', descending ? term.slice(1) : term, sortable)
		if (order.some((other) => other.field === field.name))
			throw badQuery('sort', 'repeated', 'names a field more than once')
		order.push({ field: field.name, descending })
	}
	const places = keys.map(({ field }) => order.findIndex((term) => term.field === field.name))
	// Behind the whole key, a term changes nothing.
	if (keys.length > 0 && !places.includes(-1)) return order.slice(0, Math.max(...places) + 1)
	const descending = order.at(-1)?.descending ?? false
	for (const [at, { field }] of keys.entries())
		if (places[at] === -1) order.push({ field: field.name, descending })
	return order
}

function fieldNamed(place: string, name: string, fields: FieldMap): CrudField {
	const field = fields.get(name)
	if (field !== undefined) return field
	throw unknownName(place, 'may only name', fields.keys())
}

/** Names from comma-separated text, or from an array in JSON. */
function names(place: string, given: unknown): readonly string[] {
	if (typeof given === 'string') return given.split(',')
	if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
	throw badQuery(place, 'string', 'must be a comma-separated list of names')
}

function wholeNumber(place: string, given: unknown): number {
	if (typeof given === 'string' && WHOLE.test(given)) return Number(given)
	if (Number.isInteger(given) && Number(given) >= 0) return Number(given)
	throw badQuery(place, 'integer', 'must be a whole number from 0 up')
}

function isCounted(given: unknown): boolean {
	if (given === undefined) return false
	if (given === 'exact') return true
	throw badQuery('count', 'in', 'must be exact')
}
