/** Valid and invalid queries of lists and of records for fast-check. Used by `any-request.ts`. */
import fc from 'fast-check'
import { bad, text } from './any-value.ts'

/** Fields that queries name. */
export interface Queryable {
	readonly readable: readonly string[]
	/** Names that clients can't use. */
	readonly unreadable: readonly string[]
	/** Names of the text fields. */
	readonly texts: RegExp
	/** A valid value of a field. */
	valueFor(name: string): fc.Arbitrary<unknown>
}

export interface Queries {
	/** `?…` of a list. */
	readonly query: fc.Arbitrary<string>
	/** `?…` of a record. */
	readonly recordQuery: fc.Arbitrary<string>
	readonly filter: fc.Arbitrary<Record<string, unknown>>
	readonly queryBody: fc.Arbitrary<string>
}

const COMPARING = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'between', 'null']
const OF_TEXT = ['contains', 'startsWith', 'endsWith']
export function queriesOf({ readable, unreadable, texts, valueFor }: Queryable): Queries {
	const operator = (name: string): fc.Arbitrary<string> =>
		fc.oneof(
			{ weight: 8, arbitrary: fc.constantFrom(...COMPARING) },
			{ weight: 4, arbitrary: fc.constantFrom(...(texts.test(name) ? OF_TEXT : COMPARING)) },
			{ weight: 1, arbitrary: fc.constantFrom(...OF_TEXT, 'like', '') },
		)
	const field = fc.constantFrom(...readable)
	const anyName = fc.oneof(
		{ weight: 12, arbitrary: field },
		{ weight: 1, arbitrary: fc.constantFrom(...unreadable, '', '__proto__', 'nothing') },
	)

	/** A field, one of its operators, and a value that may be valid. */
	const comparison = anyName.chain((name) =>
		operator(name).chain((op) => fc.tuple(fc.constant(name), fc.constant(op), operandOf(name, op))),
	)

	/** Mostly of the type that the operator accepts. */
	function operandOf(name: string, op: string): fc.Arbitrary<unknown> {
		const [one, list] = [valueFor(name), fc.array(valueFor(name), { minLength: 2, maxLength: 2 })]
		const fit = op === 'null' ? fc.boolean() : /^(?:in|nin|between)$/.test(op) ? list : one
		return fc.oneof({ weight: 3, arbitrary: fit }, { weight: 1, arbitrary: operand(name) })
	}

	function operand(name: string): fc.Arbitrary<unknown> {
		return fc.oneof(
			{ weight: 8, arbitrary: valueFor(name) },
			{ weight: 2, arbitrary: fc.array(valueFor(name), { maxLength: 3 }) },
			{ weight: 1, arbitrary: fc.constantFrom<unknown>(true, false, '%', '_', '\\', 'a%', '[ab]', "'", '"') },
			{ weight: 1, arbitrary: bad(name) },
		)
	}

	const queryPair = comparison.map(([name, op, value]) => {
		const given = Array.isArray(value) ? value.map(shown).join(',') : shown(value)
		return pair(op === 'eq' ? name : `${name}[${op}]`, given)
	})

	const { filter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
		filter: fc.oneof(
			{ maxDepth: 3, depthSize: 'small' },
			comparison.map(([name, op, value]) => ({ [name]: op === 'eq' ? value : { [op]: value } })),
			// Never an id itself: each store has its own.
			fc
				.tuple(field, text)
				.map(([name, value]) => ({ [/^(?:id|parent)$/.test(name) ? 'code' : name]: value })),
			fc.array(tie('filter'), { maxLength: 3 }).map((terms) => ({ or: terms })),
			fc.array(tie('filter'), { maxLength: 3 }).map((terms) => ({ and: terms })),
			tie('filter').map((term) => ({ not: term })),
		),
	}))

	const sortTerm = fc.tuple(fc.boolean(), anyName).map(([down, name]) => `${down ? '-' : ''}${name}`)
	const setting = fc.oneof(
		fc.constantFrom('0', '1', '1', '2', '2', '3', '5', '100', '-1', 'x').map((n) => pair('limit', n)),
		fc.constantFrom('0', '1', '1', '2', '2', '9', '-1', '9007199254740993').map((n) => pair('offset', n)),
		fc.array(sortTerm, { minLength: 1, maxLength: 3 }).map((terms) => pair('sort', terms.join())),
		fc.array(anyName, { minLength: 1, maxLength: 4 }).map((names) => pair('fields', names.join())),
		fc.constantFrom('exact', 'exact', 'exact', 'yes').map((how) => pair('count', how)),
		fc.oneof(text, fc.constantFrom('%', '_', 'a b 1', '\0')).map((words) => pair('search', words)),
		fc.constantFrom('WyJ4Il0', '***', '').map((cursor) => pair('cursor', cursor)),
	)
	const filterPair = filter.map((given) => pair('filter', JSON.stringify(given)))
	const query = fc
		.array(
			fc.oneof(
				{ weight: 4, arbitrary: setting },
				{ weight: 3, arbitrary: queryPair },
				{ weight: 1, arbitrary: filterPair },
			),
			{ maxLength: 3 },
		)
		.map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))

	const names = fc.array(anyName, { minLength: 1, maxLength: 4 })
	const terms = fc.array(sortTerm, { minLength: 1, maxLength: 3 })
	/** The body of a QUERY, with the equivalent URL of a GET. */
	const queryBody = fc
		.record(
			{
				filter,
				sort: fc.oneof(
					terms,
					terms.map((some) => some.join()),
				),
				fields: fc.oneof(
					names,
					names.map((some) => some.join()),
				),
				limit: fc.constantFrom<unknown>(0, 1, 2, 2, 3, '2', 5, 100, -1, 1.5, null),
				offset: fc.constantFrom<unknown>(0, 0, 1, 1, 2, '1', 9, -1, 2 ** 53),
				count: fc.constantFrom<unknown>('exact', 'exact', 'exact', 'exact', 'yes', true),
				search: fc.oneof(text, text, fc.constantFrom<unknown>('%', 'a b 1', '\0', 7)),
				// JSON omits undefined.
				cursor: fc.constantFrom(...Array.from({ length: 8 }, () => undefined), 'WyJ4Il0', '***'),
			},
			{ requiredKeys: [] },
		)
		.map((asked) => JSON.stringify(asked))
	const recordQuery = fc.oneof(
		{ weight: 6, arbitrary: fc.constant('') },
		{
			weight: 1,
			arbitrary: fc.array(anyName, { maxLength: 3 }).map((names) => `?${pair('fields', names.join())}`),
		},
	)
	return { query, recordQuery, filter, queryBody }
}

function shown(value: unknown): string {
	return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function pair(name: string, value: string): string {
	// A lone surrogate has no percent-encoding.
	const sendable = value.replace(/\p{Surrogate}/u, '\ufffd')
	return `${encodeURIComponent(name)}=${encodeURIComponent(sendable).replaceAll('%7B%7B', '{{').replaceAll('%7D%7D', '}}')}`
}
