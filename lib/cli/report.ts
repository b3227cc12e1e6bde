/** The text that `verbena` prints when it serves. */
import { escaped } from '../base/error-text.ts'
import { keyNames } from '../models/key.ts'
import type { Command } from './arguments.ts'
import type { Plans, TablePlan } from './handlers.ts'
import type { Source } from './source.ts'

/** Maximum number of tables to list; all are in the OpenAPI description. */
const MOST_TABLES = 30
/** Maximum number of a table's columns, and of its relations, to list. */
const MOST_NAMES = 8

/** What is served, where, the first curl line, and how to go on. */
export function reportOf(
	{ plans, refused }: Plans,
	{ place, isTransient }: Source,
	{ isWritable, token, shownToken }: Command,
	url: string,
): string {
	const width = Math.max(...plans.slice(0, MOST_TABLES).map(({ path }) => path.length))
	const first = plans.find(({ model }) => keyNames(model).length > 0) ?? plans[0]
	const authorization = token === undefined ? '' : `-H "Authorization: Bearer ${shownToken}" `
	const lines = [
		`${place}: ${counted(plans.length, 'table')}, ${isWritable ? 'to read and to write' : 'read only'}`,
		'',
		...plans.slice(0, MOST_TABLES).map((table) => `  /${table.path.padEnd(width)}  ${contentsOf(table)}`),
		...(plans.length > MOST_TABLES
			? [`  … and ${plans.length - MOST_TABLES} more: ${url}/openapi.json`]
			: []),
		...refused.map((reason) => `  not served: ${reason}`),
		'',
		`Try:         curl ${authorization}'${url}/${encodeURIComponent(first?.path ?? '')}?limit=3'`,
		`Browser:     ${url}/`,
		`Description: ${url}/openapi.json`,
		isWritable ? writing(isTransient === true) : 'To write:    add --write',
		'Stop:        Ctrl-C',
	]
	// Names and reasons are the database's: no control characters for the terminal.
	return lines.map(escaped).join('\n')
}

function writing(isTransient: boolean): string {
	return `Writing:     POST, PATCH, PUT and DELETE${isTransient ? '; in memory, so lost when it stops' : ''}`
}

function contentsOf({ model, relations }: TablePlan): string {
	const fields = model.fields.map(({ name }) => name)
	const names = Object.keys(relations)
	const related = names.length === 0 ? '' : `  with ${some(names)}`
	return `${some(fields)}${related}${keyNames(model).length === 0 ? '  (list only: no key)' : ''}`
}

function some(names: readonly string[]): string {
	const rest = names.length - MOST_NAMES
	return rest <= 1 ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more`
}

function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? '' : 's'}`
}
