/** What `verbena` prints of what it serves. */
import { keyNames } from '../models/key.ts'
import type { Command } from './arguments.ts'
import type { ServedTable, Tables } from './handlers.ts'
import type { Source } from './source.ts'

/** More tables are in the description. */
const MOST_TABLES = 30
const MOST_NAMES = 8

/** What is served, where, the first curl line, and how to go on. */
export function reportOf(
	{ served, refused }: Tables,
	{ place, isTransient }: Source,
	{ isWritable, token }: Command,
	url: string,
): string {
	const width = Math.max(...served.slice(0, MOST_TABLES).map(({ path }) => path.length))
	const first = served.find(({ model }) => keyNames(model).length > 0) ?? served[0]
	const authorization = token === undefined ? '' : '-H "Authorization: Bearer $VERBENA_TOKEN" '
	const lines = [
		`${place}: ${counted(served.length, 'table')}, ${isWritable ? 'to read and to write' : 'read only'}`,
		'',
		...served.slice(0, MOST_TABLES).map((table) => `  /${table.path.padEnd(width)}  ${contentsOf(table)}`),
		...(served.length > MOST_TABLES
			? [`  … and ${served.length - MOST_TABLES} more: ${url}/openapi.json`]
			: []),
		...refused.map((reason) => `  not served: ${reason}`),
		'',
		`Try:         curl ${authorization}'${url}/${encodeURIComponent(first?.path ?? '')}?limit=3'`,
		`Browser:     ${url}/`,
		`Description: ${url}/openapi.json`,
		isWritable ? writing(isTransient === true) : 'To write:    add --write',
		'Stop:        Ctrl-C',
	]
	return lines.join('\n')
}

function writing(isTransient: boolean): string {
	return `Writing:     POST, PATCH, PUT and DELETE${isTransient ? '; in memory, so lost when it stops' : ''}`
}

function contentsOf({ model, relations }: ServedTable): string {
	const fields = model.fields.map(({ name }) => name)
	const related = relations.length === 0 ? '' : `  with ${some(relations)}`
	return `${some(fields)}${related}${keyNames(model).length === 0 ? '  (list only: no key)' : ''}`
}

function some(names: readonly string[]): string {
	const rest = names.length - MOST_NAMES
	return rest <= 1 ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more`
}

function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? '' : 's'}`
}
