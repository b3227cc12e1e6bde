/** Reads and checks the options of a `CrudHandler` that don't depend on its model; `plan.ts` checks the others. */
import {
	entriesOf,
	flag,
	listOf,
	nearest,
	nested,
	oneOf,
	optional,
	or,
	type Reader,
	type Readers,
	such,
	text,
	wholeNumber,
	withMethods,
} from '../base/options.ts'
import type { Model } from '../models/model.ts'
import { MAX_PAGE_BYTES } from '../models/model-error.ts'
import {
	type AuditOption,
	type Columns,
	type CrudOperation,
	type CrudOptions,
	type CrudRelation,
	type CrudTotals,
	OPERATIONS,
} from './options.ts'

/** The text for each code; `true` for the database's own. */
type MessageMap = ReadonlyMap<string, true | string>

const names: Reader<readonly string[]> = such('an array of names', isNames)

/**
 * The readers that `optionsOf` checks options with. `plan.ts` checks what depends on the model, and the mount checks
 * `rules`.
 */
export const READERS = {
	visible: such<'all' | readonly string[]>(
		"an array of names, or 'all'",
		(value) => value === 'all' || isNames(value),
	),
	updatable: or(names, []),
	creatable: optional(names),
	filterable: optional(names),
	sortable: optional(names),
	sort: or(names, []),
	searchable: or(names, []),
	allow: or(operations, ['list', 'read']),
	rules: (_where, rules) => rules,
	columns: optional(columns),
	dialect: optional(oneOf('simple-rest', 'json-server')),
	limit: or(wholeNumber({ from: 1 }), 25),
	maxLimit: or(wholeNumber({ from: 1 }), 100),
	maxPageBytes: or(wholeNumber({ from: 1, to: MAX_PAGE_BYTES }), 8_388_608),
	maxTextTerms: or(wholeNumber({ from: 1, to: 100 }), 10),
	maxIn: or(wholeNumber({ from: 1, to: 10_000 }), 100),
	maxBatch: or(wholeNumber({ from: 1, to: 10_000 }), 100),
	maxImport: or(wholeNumber({ from: 1, to: 10_000_000 }), 10_000),
	maxTransfers: or(wholeNumber({ from: 1, to: 1_000 }), 10),
	upsertOn: or(listOf("a list of unique fields: ['slug', ['day', 'room']]", oneOrMore, 0), []),
	ignoreQuery: or(names, []),
	databaseMessages: or(databaseMessages, new Map()),
	version: optional(text),
	touch: optional(text),
	softDelete: optional(text),
	relations: or(relations, {}),
	audit: optional(audit),
	includeDepth: or(wholeNumber({ from: 1, to: 4 }), 2),
	totals: optional(
		nested("{ by: ['status'], of: ['amount'] }", {
			by: or(names, []),
			of: or(names, []),
			maxGroups: or(wholeNumber({ from: 1, to: 100_000 }), 1_000),
		} satisfies Readers<CrudTotals>),
	),
} satisfies Readers<CrudOptions>

function isNames(value: unknown): boolean {
	return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function operations(where: string, value: unknown): readonly CrudOperation[] {
	return names(where, value).map((name) => {
		const operation = OPERATIONS.find((one) => one === name)
		if (operation !== undefined) return operation
		throw new TypeError(`${where}: there is no operation ${name}${nearest(name, OPERATIONS)}`)
	})
}

function columns(where: string, value: unknown): Columns {
	if (value === 'camelCase') return value
	const entries = entriesOf(where, value, "{ createdAt: 'created_at' }, or 'camelCase'")
	return Object.fromEntries(entries.map(([name, column]) => [name, text(`${where}.${name}`, column)]))
}

const relation = nested(
	'{ to: authors }',
	{
		to: such<CrudRelation['to']>('a CrudHandler, or a function that returns one', isTarget),
		by: optional(oneOrMore),
		many: optional(flag),
		through: optional(withMethods<Model>('list', 'read', 'create')),
		limit: optional(wholeNumber({ from: 1 })),
		maxLimit: optional(wholeNumber({ from: 1 })),
		writable: or(listOf("['tie'] or ['create']", oneOf('tie', 'create'), 0), []),
	} satisfies Readers<CrudRelation>,
	'an object with the handler',
)

/** The options of a relation, read. */
export type ReadRelation = ReturnType<typeof relation>

function isTarget(value: unknown): boolean {
	return typeof value === 'function' || (typeof value === 'object' && value !== null && 'model' in value)
}

function audit(where: string, value: unknown): AuditOption {
	if (typeof value !== 'object' || value === null || !('to' in value)) return model(where, value)
	return nested('{ to: model }', { to: model, fields: optional(names) }, 'a model')(where, value)
}

const model = withMethods<Model>('list', 'read', 'create')

function oneOrMore(where: string, value: unknown): readonly string[] {
	return typeof value === 'string'
		? [value]
		: listOf("a field, or a list of fields: ['day', 'room']", text)(where, value)
}

function relations(where: string, value: unknown): Readonly<Record<string, ReadRelation>> {
	const entries = entriesOf(where, value, '{ author: { to: authors } }')
	return Object.fromEntries(entries.map(([name, one]) => [name, relation(`${where}.${name}`, one)]))
}

const SQLSTATE = /^(?:[0-9A-Z]{5}|SQLITE_CONSTRAINT_TRIGGER)$/

function databaseMessages(where: string, value: unknown): MessageMap {
	const entries = Array.isArray(value)
		? value.map((code: unknown): [unknown, unknown] => [code, true])
		: entriesOf(where, value, '{ P0001: true }, or an array of codes')
	return new Map(
		entries.map(([code, shown]) => {
			if (typeof code !== 'string' || !SQLSTATE.test(code))
				throw new TypeError(
					`${where}: ${JSON.stringify(code)} is not a SQLSTATE, which has five digits or capital letters: 'P0001', '45000'`,
				)
			if (shown === true || (typeof shown === 'string' && shown !== '')) return [code, shown]
			throw new TypeError(
				`${where}: ${code} must be true for the database's own text, or the text to send instead`,
			)
		}),
	)
}
