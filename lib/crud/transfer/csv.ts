/**
 * CSV (RFC 4180): writes the rows of an export, and reads those of an import. An empty cell is null, a quoted empty one (`""`) is an empty
 * text, as in `COPY` of PostgreSQL. A text that a spreadsheet would take for a formula begins with an apostrophe, which an import
 * removes. Called by `export.ts` and `read-rows.ts`.
 */
import type { FieldType } from '../../models/model.ts'
import type { FieldMap } from '../fields.ts'
import { memberTexts } from '../json-text.ts'
import type { CrudQuery } from '../list-query.ts'
import type { CrudPlan } from '../plan.ts'
import { badQuery } from '../query-values.ts'
import { type Include, NO_INCLUDE } from '../relations/parse-include.ts'

/** What spreadsheets take for the beginning of a formula, also in full width (OWASP, CSV injection). */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
/** A formula behind the apostrophe that an export adds, and those of the text itself. */
const HARMLESS = /^'+[=+\-@\t\r\n＝＋－＠]/
/** Cells that some programs would misread without quotes: some split at `;` or tabs, some trim. */
const QUOTED = /[",;\t\r\n]|^\s|\s$|^$/
const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)$|^NaN$/
const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'decimal'])

/** Writes records in a format. */
export interface RowWriter {
	readonly head: string
	/** @param record a record as JSON */
	row(record: string): string
	/** @param records their number */
	tail(records: number): string
}

/** Writes the cells of one record, or of a related one. */
type WriteCells = (json: string | undefined, cells: string[]) => void

/** @throws RestError `bad_request` for an include with lists in it */
export function csvWriter(plan: CrudPlan, { selection, include = NO_INCLUDE }: CrudQuery): RowWriter {
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

/**
 * A value as a cell.
 *
 * @param json the value; `undefined` if the record lacks it
 * @param type that of its field; `undefined` for a value of unknown type
 */
function cellOf(json: string | undefined, type?: FieldType): string {
	if (json === undefined || json === 'null') return ''
	// A number, true or false; of a JSON field, an object or array, which begins with a brace.
	if (type === 'json' || !json.startsWith('"')) return quoted(json)
	const text = JSON.parse(json) as string // it is quoted
	return type !== undefined && NUMBERS.has(type) && NUMBER.test(text) ? text : textCell(text)
}

function textCell(text: string): string {
	return quoted(FORMULA.test(text) ? `'${text}` : text)
}

/** The text of a cell, without the apostrophe that makes it harmless. */
export function cellText(cell: string): string {
	return HARMLESS.test(cell) ? cell.slice(1) : cell
}

function quoted(text: string): string {
	return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The cells of a row; null for an empty one that isn't quoted. */
export interface CsvRow {
	/** Where it begins, from 1. */
	readonly line: number
	readonly cells: readonly (string | null)[]
}

/** Malformed CSV, after which reading can't go on. `line` is where the row begins. */
export class CsvError extends Error {
	readonly line: number

	constructor(line: number, message: string) {
		super(message)
		this.line = line
	}
}

const DELIMITER = /[,\n]/g

/** Reads rows of text that comes in pieces. */
export class CsvReader {
	/** Maximum length of a row, in characters. */
	readonly #max: number
	#line = 1
	#rowLine = 1
	#cells: (string | null)[] = []
	#cell = ''
	/** What follows the closing quote of a cell: nothing but a carriage return is allowed. */
	#trail = ''
	#length = 0
	/** Whether the cell before was quoted. */
	#wasQuoted = false
	#state: 'begin' | 'plain' | 'quoted' | 'quote' | 'closed' = 'begin'

	constructor(max: number) {
		this.#max = max
	}

	/** The rows that end in this piece. @throws CsvError */
	push(text: string): CsvRow[] {
		const rows: CsvRow[] = []
		for (let at = 0; at < text.length; ) at = this.#read(text, at, rows)
		return rows
	}

	/** The last row, if no line break ends it. @throws CsvError */
	end(): CsvRow[] {
		if (this.#state === 'quoted') throw new CsvError(this.#rowLine, 'has a quote that is not closed')
		if (this.#state === 'begin' && this.#cells.length === 0) return []
		this.#endCell(true)
		return [this.#endRow()]
	}

	/** Reads a part of a cell; returns where the next part begins. */
	#read(text: string, at: number, rows: CsvRow[]): number {
		if (this.#state === 'quoted') return this.#readQuoted(text, at)
		const isQuote = text[at] === '"'
		if (this.#state === 'begin') {
			this.#state = isQuote ? 'quoted' : 'plain'
			return isQuote ? at + 1 : at
		}
		if (this.#state === 'quote') {
			this.#state = isQuote ? 'quoted' : 'closed'
			if (isQuote) this.#add('"')
			return isQuote ? at + 1 : at
		}
		DELIMITER.lastIndex = at
		const end = DELIMITER.exec(text)?.index ?? text.length
		this.#add(text.slice(at, end))
		if (end === text.length) return end
		const isLast = text[end] === '\n'
		this.#endCell(isLast)
		if (isLast) {
			this.#line++
			rows.push(this.#endRow())
		}
		return end + 1
	}

	#readQuoted(text: string, at: number): number {
		const quote = text.indexOf('"', at)
		const end = quote === -1 ? text.length : quote
		const part = text.slice(at, end)
		this.#add(part)
		for (let from = part.indexOf('\n'); from !== -1; from = part.indexOf('\n', from + 1)) this.#line++
		if (quote === -1) return end
		this.#state = 'quote'
		return end + 1
	}

	#add(part: string): void {
		this.#length += part.length
		if (this.#length > this.#max)
			throw new CsvError(this.#rowLine, `must have at most ${this.#max} characters`)
		if (this.#state === 'closed') this.#trail += part
		else this.#cell += part
	}

	#endCell(isLast: boolean): void {
		const isQuoted = this.#state === 'closed' || this.#state === 'quote'
		if (isQuoted && this.#trail !== '' && !(isLast && this.#trail === '\r'))
			throw new CsvError(this.#rowLine, 'has text behind a closing quote')
		this.#cells.push(!isQuoted && this.#cell === '' ? null : this.#cell)
		this.#length++
		this.#cell = ''
		this.#trail = ''
		this.#state = 'begin'
		this.#wasQuoted = isQuoted
	}

	#endRow(): CsvRow {
		const last = this.#cells.at(-1)
		if (!this.#wasQuoted && last?.endsWith('\r') === true)
			this.#cells[this.#cells.length - 1] = last === '\r' ? null : last.slice(0, -1)
		const row = { line: this.#rowLine, cells: this.#cells }
		this.#cells = []
		this.#rowLine = this.#line
		this.#length = 0
		return row
	}
}
