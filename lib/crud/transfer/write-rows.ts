/** Writes the records of an export, as lines of JSON or as CSV. Called by `export.ts`. */
import { badQuery } from '../bad-query.ts'
import type { FieldMap } from '../fields.ts'
import { memberTexts } from '../json-text.ts'
import type { CrudQuery } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { type Include, NO_INCLUDE } from '../relations/parse-include.ts'
import { cellOf, textCell } from './csv.ts'
import type { Format } from './format.ts'

export interface RowWriter {
	readonly head: string
	/** @param record a record as JSON */
	row(record: string): string
	/** @param records their number */
	tail(records: number): string
}

/** @throws RestError `bad_request` for CSV with lists in it */
export function rowWriter(format: Format, plan: CrudPlan, query: CrudQuery): RowWriter {
	return format === 'csv' ? csvWriter(plan, query) : NDJSON
}

const NDJSON: RowWriter = {
	head: '',
	// Some databases keep the line breaks of a JSON value. Within a string, JSON has none.
	row: (record) => `${/[\r\n]/.test(record) ? record.replaceAll(/[\r\n]+/g, ' ') : record}\n`,
	tail: (records) => `{"done":${records}}\n`,
}

/** Writes the cells of one record, or of a related one. */
type WriteCells = (json: string | undefined, cells: string[]) => void

function csvWriter(plan: CrudPlan, { selection, include = NO_INCLUDE }: CrudQuery): RowWriter {
	const head: string[] = []
	const write = cellWriter(plan.visible, { names: selection.names, include }, '', head)
	return {
		head: lineOf(head),
		row(record) {
			const cells: string[] = []
			write(record, cells)
			return lineOf(cells)
		},
		tail: () => '',
	}
}

function lineOf(cells: readonly string[]): string {
	return `${cells.join()}\r\n`
}

/** @param head the names of the columns are added to it */
function cellWriter(
	fields: FieldMap,
	{ names, include }: { readonly names: readonly string[]; readonly include: readonly Include[] },
	prefix: string,
	head: string[],
): WriteCells {
	const own = names.map((name) => ({ name, type: fields.get(name)?.field.type }))
	head.push(...names.map((name) => textCell(prefix + name)))
	const related = include.map((one): readonly [string, WriteCells] => {
		const { name, link, to } = one.relation
		if (link.isMany)
			throw badQuery(
				'include',
				'csv',
				`can't name ${prefix}${name} in CSV, which has no lists: leave it out, or ask for application/x-ndjson`,
			)
		const asked = { names: one.selection.names, include: one.include }
		return [name, cellWriter(to.visible, asked, `${prefix}${name}.`, head)]
	})
	return (json, cells) => {
		const members = memberTexts(json ?? '')
		for (const { name, type } of own) cells.push(cellOf(members.get(name), type))
		for (const [name, write] of related) write(members.get(name), cells)
	}
}
