/**
 * The parameters of a list, from a URL's query or a QUERY's body: taken apart, each still as it was sent.
 * `list-query.ts` makes a query for the model of them.
 */

import type { Condition } from '../models/model.ts'
import type { Fields } from '../request/body/fields.ts'
import { checkParsed } from '../request/body/json.ts'
import type { Detail } from '../wire/codes.ts'
import { PARAMETERS } from '../wire/list.ts'
import type { CrudField } from './fields.ts'
import { fieldCondition, filterCondition, TermCount } from './filter.ts'
import { checkCount, compared, looksIntoText, operandField, operatorOf, takesList } from './operator.ts'
import type { CrudPlan } from './plan.ts'
import { badQuery, badValue, unknownName } from './refusal.ts'
import { searchCondition } from './search.ts'
import { type Given, valueFromText } from './value-from-text.ts'

type Parameter = (typeof PARAMETERS)[number]
/** What isn't a condition. */
export type Setting = Exclude<Parameter, 'filter' | 'search'>

/** The parameters of a list without fields to search in. */
const UNSEARCHABLE = PARAMETERS.filter((name) => name !== 'search')
/** `title[contains]`. */
const BRACKETED = /^(.*)\[([^[\]]*)\]$/s

/** Parameters by name, of a query's text or a body's values, and the conditions that all must hold. */
export class QueryParams {
	readonly settings = new Map<Setting, unknown>()
	readonly terms: Condition[] = []
	readonly #plan: CrudPlan
	readonly #count: TermCount

	constructor(plan: CrudPlan) {
		this.#plan = plan
		this.#count = new TermCount(plan)
	}

	/**
	 * Takes the parameters of a URL, or of a form.
	 *
	 * @throws RestError `bad_request` for a name that there isn't, and a value that isn't of its field's type
	 */
	addText(fields: Fields): void {
		for (const name of Object.keys(fields.last)) {
			if (this.#plan.ignoreQuery.has(name)) continue
			const values = fields.all(name)
			const [first = ''] = values
			const parameter = this.#parameter(name)
			if (parameter === undefined) {
				this.#addComparison(name, values)
				continue
			}
			// Clients that write each item of an array by itself: `sort=title&sort=-id` is `sort=title,-id`.
			if (name === 'sort' || name === 'fields') this.#addParameter(name, values.join())
			else if (values.length > 1) throw badQuery(name, 'repeated', 'is given more than once')
			else this.#addParameter(parameter, name === 'filter' ? parsed(first) : first)
		}
	}

	/**
	 * Takes the fields of a QUERY's body. What the URL says comes first, so that `Link` can be followed with the
	 * same body.
	 *
	 * @throws RestError `bad_request` as `addText`
	 */
	addJson(body: Readonly<Record<string, unknown>>): void {
		const isPlaced = this.settings.has('cursor') || this.settings.has('offset')
		for (const [name, value] of Object.entries(body)) {
			// The URL says where the page begins: what the body says of it is the first page's.
			if (isPlaced && (name === 'cursor' || name === 'offset')) continue
			const parameter = this.#parameter(name)
			if (parameter !== undefined) this.#addParameter(parameter, value)
			else {
				this.#field(name, name)
				this.terms.push(fieldCondition(name, value, this.#plan.filterable, this.#count, name))
			}
		}
	}

	/** The parameter of that name; `search` is one where there are fields to search in. */
	#parameter(name: string): Parameter | undefined {
		return this.#parameters().find((one) => one === name)
	}

	#parameters(): readonly Parameter[] {
		return this.#plan.searchable.size > 0 ? PARAMETERS : UNSEARCHABLE
	}

	#addParameter(name: Parameter, value: unknown): void {
		const { filterable, searchable } = this.#plan
		if (name === 'filter') this.terms.push(filterCondition(value, filterable, this.#count))
		else if (name === 'search') {
			if (typeof value !== 'string') throw badQuery('search', 'string', 'must be a string')
			const condition = searchCondition(value, searchable, this.#count)
			if (condition !== undefined) this.terms.push(condition)
		} else if (!this.settings.has(name)) this.settings.set(name, value)
	}

	/** `field=value`, repeated for one of several; `field[op]=value`. */
	#addComparison(name: string, values: readonly string[]): void {
		const [, base = name, op = 'eq'] = this.#plan.filterable.has(name) ? [] : (BRACKETED.exec(name) ?? [])
		const field = this.#field(base, name)
		const operator = operatorOf(field, op, name)
		const read = (text: string): Given => {
			const problems: Detail[] = []
			const value = valueFromText(operandField(field, operator), text, problems)
			if (value === undefined) throw badValue(name, problems)
			return value
		}
		if (operator === 'eq') {
			this.#count.add(name)
			checkCount('in', values.length, this.#plan.maxIn, name)
			this.terms.push(compared(field, 'in', values.map(read), name))
			return
		}
		for (const text of values) {
			this.#count.add(name)
			if (looksIntoText(operator)) this.#count.addText(name, 1)
			if (operator === 'null') this.terms.push(nullCondition(field.field.name, text, name))
			else {
				const parts = takesList(operator) ? text.split(',') : [text]
				if (takesList(operator)) checkCount(operator, parts.length, this.#plan.maxIn, name)
				this.terms.push(compared(field, operator, parts.map(read), name))
			}
		}
	}

	/** @throws RestError `bad_request` in the same words for all that can't be asked by */
	#field(name: string, place: string): CrudField {
		const { filterable } = this.#plan
		const field = filterable.get(name)
		if (field !== undefined) return field
		const all = [...this.#parameters(), ...filterable.keys()]
		throw unknownName(place, 'is no parameter of this list: there are', all)
	}
}

function nullCondition(field: string, text: string, place: string): Condition {
	if (text !== 'true' && text !== 'false') throw badQuery(place, 'boolean', 'must be true or false')
	return { op: 'null', field, value: text === 'true' }
}

function parsed(text: string): unknown {
	let value: unknown
	try {
		value = JSON.parse(text)
	} catch {
		throw badQuery('filter', 'json', 'is malformed JSON')
	}
	// As a body that held the same filter: what is refused there is refused here, in the same words.
	checkParsed(value)
	return value
}
