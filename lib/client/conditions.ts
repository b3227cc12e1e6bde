/**
 * Conditions as they are sent: as parameters of a URL where these can say it beyond doubt, else as JSON.
 * `list-query.ts` has their types; this file checks whatever JavaScript may have passed.
 */
import { GROUPS, PARAMETERS } from '../wire/list.ts'
import { isRecord } from './answer.ts'

type JsonScalar = string | number | boolean
/** Comparisons of one field, all values as they are written in JSON. */
type JsonOperators = Record<string, JsonScalar | JsonScalar[]>
/** A filter as the server takes it: `{"field":{"op":value}}`, with `and`, `or` and `not`. */
export type JsonFilter = Record<string, unknown>

/** The parameters that a field's name must not be mistaken for, and the groups of a filter. */
const PARAMETER_NAMES: readonly string[] = PARAMETERS
const GROUP_NAMES: readonly string[] = GROUPS
const NO_FILTER = 'holds filters; a field called so is asked for in where'

/** The conditions of a query as they are sent: all of them must hold. */
export interface Terms {
	/** As parameters of a URL. */
	readonly pairs: [string, string][]
	/** As parts of a filter. */
	readonly filters: JsonFilter[]
	/** As members of a QUERY's body: of fields that are called like a group, which no filter can name. */
	readonly members: JsonFilter
}

/**
 * The conditions that a URL can hold as its parameters, and the others as a filter.
 *
 *     { title: 'x', age: { gte: 3 }, tag: ['a', 'b'], city: { nin: ['Aalen, Ost'] } }
 *     title=x  age[gte]=3  tag=a  tag=b        {"city":{"nin":["Aalen, Ost"]}}
 *
 * @param inUrl false for none as parameters
 * @throws TypeError for a value that can't be sent
 */
export function termsOf(where: object, inUrl: boolean): Terms {
	const pairs: [string, string][] = []
	const filters: JsonFilter[] = []
	const members: JsonFilter = {}
	for (const [field, match] of Object.entries(where)) {
		const plain = !inUrl || holdsNull(match) ? undefined : pairsOf(field, operatorsOf(field, match))
		if (plain !== undefined) pairs.push(...plain)
		else if (!GROUP_NAMES.includes(field)) filters.push(termOf(field, match))
		else if (!holdsNull(match)) members[field] = operatorsOf(field, match)
		else throw refusal(field, 'is called like a group of filters: ask for null by itself')
	}
	return { pairs, filters, members }
}

/**
 * A whole filter as JSON.
 *
 * @throws TypeError as `termsOf`, and for a group that doesn't hold filters
 */
export function filterJson(filter: unknown, group = 'filter'): JsonFilter {
	if (!isRecord(filter)) throw refusal(group, NO_FILTER)
	const terms = Object.entries(filter).map(([name, value]: [string, unknown]): JsonFilter => {
		if (name === 'not') return { not: filterJson(value, name) }
		if (!GROUP_NAMES.includes(name)) return termOf(name, value)
		if (!Array.isArray(value)) throw refusal(name, NO_FILTER)
		return { [name]: value.map((one) => filterJson(one, name)) }
	})
	return allOf(terms) ?? {}
}

/** A filter of which all of these hold; one level deeper only where it must be. */
export function allOf(terms: readonly JsonFilter[]): JsonFilter | undefined {
	const names = terms.flatMap((term) => Object.keys(term))
	if (new Set(names).size < names.length) return { and: terms }
	return names.length === 0 ? undefined : Object.fromEntries(terms.flatMap((term) => Object.entries(term)))
}

function termOf(field: string, match: unknown): JsonFilter {
	if (!holdsNull(match)) return { [field]: operatorsOf(field, match) }
	// `in` compares, and nothing equals null.
	return {
		or: [
			termOf(
				field,
				match.filter((value) => value !== null),
			),
			termOf(field, null),
		],
	}
}

function holdsNull(match: unknown): match is unknown[] {
	return Array.isArray(match) && match.includes(null)
}

function operatorsOf(field: string, match: unknown): JsonOperators {
	if (match === null) return { null: true }
	if (Array.isArray(match)) return { in: match.map((value) => scalar(field, value)) }
	if (typeof match !== 'object' || match instanceof Date) return { eq: scalar(field, match) }
	const operators = Object.entries(match).map(([op, value]): [string, JsonScalar | JsonScalar[]] => {
		if (value === null && (op === 'eq' || op === 'ne')) return ['null', op === 'eq']
		if (Array.isArray(value)) return [op, value.map((one) => scalar(`${field}.${op}`, one))]
		return [op, scalar(`${field}.${op}`, value)]
	})
	if (operators.length === 0) throw refusal(field, 'has no operator')
	return Object.fromEntries(operators)
}

function scalar(where: string, value: unknown): JsonScalar {
	const sent = jsonScalar(value)
	if (typeof sent === 'string' || typeof sent === 'number' || typeof sent === 'boolean') return sent
	// One that is undefined is no condition less: whoever exports or counts by it would get everything.
	throw refusal(where, `is compared with a text, number, boolean or date, not ${value}; leave it out instead`)
}

/**
 * What JSON has no word for, in the words of the wire; a bigint is a number where that is exact.
 *
 * @throws RangeError for a date that is none, of which JSON would make null
 */
export function jsonScalar(value: unknown): unknown {
	if (value instanceof Date) return value.toISOString()
	if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
	return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}

/** The parameters of one field, or `undefined` where they would leave room for doubt. */
function pairsOf(field: string, operators: JsonOperators): [string, string][] | undefined {
	if (PARAMETER_NAMES.includes(field) || /[[\]]/.test(field)) return undefined
	const pairs: [string, string][] = []
	for (const [op, value] of Object.entries(operators)) {
		const values = [value].flat().map(String)
		// URLs are UTF-8, which has no lone surrogates; JSON escapes them.
		if (values.length === 0 || values.some((text) => /\p{Surrogate}/u.test(text))) return undefined
		if (op === 'in' && !('eq' in operators))
			pairs.push(...values.map((text): [string, string] => [field, text]))
		else if (Array.isArray(value) && values.some((text) => !/^[^\s,](?:[^,]*[^\s,])?$/.test(text)))
			return undefined
		else pairs.push([op === 'eq' ? field : `${field}[${op}]`, values.join(',')])
	}
	return pairs
}

function refusal(where: string, what: string): TypeError {
	return new TypeError(`${where} ${what}`)
}
