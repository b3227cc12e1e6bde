/** The conditions on groups: `having={"sum.amount":{"gt":"100"},"or":[{"count":1},{"not":{"avg.amount":null}}]}`. */
import type { Field, Total, TotalsCondition } from '../../models/model.ts'
import type { Detail } from '../../wire/codes.ts'
import { badQuery, badValue, unknownName } from '../bad-query.ts'
import { COMPARISONS, MAX_DEPTH } from '../filter.ts'
import type { TermCounter } from '../filter-comparison.ts'
import { operandFromJson } from '../value-from-json.ts'

/** A total that is asked for: `sum.amount`. */
export interface AskedTotal {
	readonly name: string
	readonly total: Total
	/** `undefined` for `count`. */
	readonly field: Field | undefined
}

/** @throws RestError `bad_request` naming the place, `having.or.1.count`, and what is allowed there */
export function havingCondition(
	given: unknown,
	asked: readonly AskedTotal[],
	count: TermCounter,
	place = 'having',
	depth = 1,
): TotalsCondition {
	if (typeof given !== 'object' || given === null || Array.isArray(given))
		throw badQuery(place, 'object', 'must be an object, such as {"count":{"gt":1}} or {"or":[…]}')
	if (depth > MAX_DEPTH)
		throw badQuery(place, 'max', `is nested too deeply: at most ${MAX_DEPTH} levels are allowed`)
	const terms = Object.entries(given).map(([name, value]: [string, unknown]): TotalsCondition => {
		const at = `${place}.${name}`
		if (name === 'not') return { op: 'not', term: havingCondition(value, asked, count, at, depth + 1) }
		if (name === 'and' || name === 'or') {
			if (!Array.isArray(value)) throw badQuery(at, 'array', 'must be an array of conditions')
			if (value.length === 0) count.add(at)
			const each = value.map((one, index) => havingCondition(one, asked, count, `${at}.${index}`, depth + 1))
			return { op: name, terms: each }
		}
		const names = asked.map((one) => one.name)
		const total = names.indexOf(name)
		const found = asked[total]
		if (found === undefined) throw unknownName(at, 'is not one of the totals that are asked for:', names)
		return comparisons(value, { total, field: operandField(found), count }, at)
	})
	if (terms.length === 0) count.add(place)
	return allOf(terms)
}

function allOf(terms: readonly TotalsCondition[]): TotalsCondition {
	const [only] = terms
	return terms.length === 1 && only !== undefined ? only : { op: 'and', terms }
}

interface Compared {
	/** Its index among the totals. */
	readonly total: number
	readonly field: Field
	readonly count: TermCounter
}

/** A value, null, or an object of operators. */
function comparisons(given: unknown, compared: Compared, place: string): TotalsCondition {
	if (typeof given !== 'object' || given === null) return comparison('eq', given, compared, place)
	const entries = Object.entries(given)
	if (entries.length === 0 || Array.isArray(given))
		throw badQuery(place, 'required', 'needs an operator, such as {"gte":3}')
	return allOf(entries.map(([op, value]) => comparison(op, value, compared, `${place}.${op}`)))
}

function comparison(
	name: string,
	given: unknown,
	{ total, field, count }: Compared,
	place: string,
): TotalsCondition {
	count.add(place)
	if (given === null && (name === 'eq' || name === 'ne')) return { op: 'null', total, value: name === 'eq' }
	if (name === 'null') {
		if (typeof given !== 'boolean') throw badQuery(place, 'boolean', 'must be true or false')
		return { op: 'null', total, value: given }
	}
	const op = COMPARISONS.find((one) => one === name)
	if (op === undefined)
		throw unknownName(place, 'is not an operator of totals: use one of', [...COMPARISONS, 'null'])
	const problems: Detail[] = []
	const value = operandFromJson(field, given, problems)
	if (value === undefined) throw badValue(place, problems)
	return { op, total, value }
}

/** A field whose values the total is compared with. */
function operandField({ total, field }: AskedTotal): Field {
	const plain = { name: '', nullable: true, hasDefault: false, generated: false }
	if (total.op === 'count' || field === undefined) return { ...plain, type: 'integer' }
	if (total.op === 'min' || total.op === 'max') return { ...field, choices: undefined }
	return { ...plain, type: field.type === 'float' ? 'float' : 'decimal' }
}
