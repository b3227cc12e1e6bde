/**
 * The parameters of a list, from a URL's query or a QUERY's body: taken apart, each still as it was sent.
 * `list-query.ts` makes a query for the model of them.
 */
import type { Fields } from '../decode/fields.ts'
import type { CrudPlan } from './crud-plan.ts'
import { fieldCondition, filterCondition, filterField, TermCount } from './filter.ts'
import type { Condition } from './model.ts'
import { compared, operatorOf, takesList } from './operator.ts'
import { badQuery, badValue, unknownName } from './refusal.ts'
import { searchCondition } from './search.ts'
import { type Given, valueFromText } from './value-from-text.ts'

/** What isn't a condition. */
export type Setting = 'limit' | 'offset' | 'cursor' | 'sort' | 'fields' | 'count'

const SETTINGS: readonly Setting[] = ['limit', 'offset', 'cursor', 'sort', 'fields', 'count']
/** `title[contains]`. */
const BRACKETED = /^(.*)\[([^[\]]*)\]$/s

/** Parameters by name, of a query's text or a body's values, and the conditions that all must hold. */
export class QueryParams {
	readonly settings = new Map<Setting, unknown>()
	readonly terms: Condition[] = []
	readonly #plan: CrudPlan
	readonly #count = new TermCount()

	constructor(plan: CrudPlan) {
		this.#plan = plan
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
			if (!this.#isParameter(name)) {
				this.#addComparison(name, values)
				continue
			}
			if (values.length > 1) throw badQuery(name, 'repeated', 'is given more than once')
			this.#addParameter(name, name === 'filter' ? parsed(first) : first)
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
			if (this.#isParameter(name)) this.#addParameter(name, value)
			else {
				this.#known(name, name)
				this.terms.push(fieldCondition(name, value, this.#plan.filterable, this.#count, name))
			}
		}
	}

	#isParameter(name: string): boolean {
		if (name === 'search') return this.#plan.searchable.size > 0
		return name === 'filter' || SETTINGS.includes(name as Setting)
	}

	#addParameter(name: string, value: unknown): void {
		const { filterable, searchable } = this.#plan
		if (name === 'filter') this.terms.push(filterCondition(value, filterable, this.#count))
		else if (name === 'search') {
			if (typeof value !== 'string') throw badQuery('search', 'string', 'must be a string')
			const condition = searchCondition(value, searchable, this.#count)
			if (condition !== undefined) this.terms.push(condition)
		} else if (!this.settings.has(name as Setting)) this.settings.set(name as Setting, value)
	}

	/** `field=value`, repeated for one of several; `field[op]=value`. */
	#addComparison(name: string, values: readonly string[]): void {
		const [, base = name, op = 'eq'] = this.#plan.filterable.has(name) ? [] : (BRACKETED.exec(name) ?? [])
		const field = this.#known(base, name)
		const operator = operatorOf(field, op, name)
		const read = (text: string): Given => {
			const problems: Parameters<typeof badValue>[1][number][] = []
			const isPart = operator === 'contains' || operator === 'startsWith' || operator === 'endsWith'
			const value = valueFromText(
				isPart ? { ...field.field, choices: undefined } : field.field,
				text,
				problems,
			)
			if (value === undefined) throw badValue(name, problems)
			return value
		}
		if (operator === 'eq') {
			this.#count.add(name)
			this.terms.push(compared(field, 'in', values.map(read), name))
			return
		}
		for (const text of values) {
			this.#count.add(name)
			if (operator === 'null') this.terms.push(nullCondition(field.field.name, text, name))
			else {
				const parts = takesList(operator) ? text.split(',') : [text]
				this.terms.push(compared(field, operator, parts.map(read), name))
			}
		}
	}

	/** @throws RestError `bad_request` in the same words for all that can't be asked by */
	#known(name: string, place: string): ReturnType<typeof filterField> {
		const { filterable, searchable } = this.#plan
		if (filterable.has(name)) return filterField(name, filterable, place)
		const parameters = [...SETTINGS, 'filter', ...(searchable.size > 0 ? ['search'] : [])]
		throw unknownName(place, 'is no parameter of this list: there are', [...parameters, ...filterable.keys()])
	}
}

function nullCondition(field: string, text: string, place: string): Condition {
	if (text !== 'true' && text !== 'false') throw badQuery(place, 'boolean', 'must be true or false')
	return { op: 'null', field, value: text === 'true' }
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		throw badQuery('filter', 'json', 'is malformed JSON')
	}
}
