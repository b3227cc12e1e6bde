/** Reads the records of an import from its bytes, whatever pieces they come in. Called by `import.ts`. */
import { isRestError, RestError } from '../../base/error.ts'
import { isPlain } from '../../base/options.ts'
import type { Bytes } from '../../base/time.ts'
import type { Field } from '../../models/model.ts'
import { checkParsed } from '../../request/body/json.ts'
import { invalid, MAX_PROBLEMS } from '../../validate/problem.ts'
import type { Detail } from '../../wire/codes.ts'
import { memberTexts } from '../json-text.ts'
import type { CrudPlan } from '../plan.ts'
import { truncatedName } from '../query-values.ts'
import { CsvError, CsvReader, type CsvRow, cellText } from './csv.ts'
import type { Format } from './format.ts'

/** A record, or what is wrong with its line. */
export type Row = { readonly line: number } & (
	| {
			readonly body: Readonly<Record<string, unknown>>
			/** The line that ends an export, or a record that looks like it. */
			readonly isLikeEnd?: true
	  }
	| { readonly problem: Omit<Detail, 'field'> }
)

interface RowReader {
	push(text: string): Row[]
	end(): Row[]
}

/**
 * The rows that end in each piece.
 *
 * @param maxLine maximum length of a line, or of a row of CSV, in characters
 * @param maxBytes maximum size of the body
 * @throws RestError `invalid` where reading can't go on, `content_too_large`
 */
export async function* rowsOf(
	format: Format,
	plan: CrudPlan,
	chunks: AsyncIterable<Uint8Array>,
	{ maxLine, maxBytes }: { readonly maxLine: number; readonly maxBytes: Bytes },
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly bytes: Bytes }, void> {
	const reader = format === 'csv' ? new CsvRows(plan, maxLine) : new JsonLines(plan, maxLine)
	// It drops the byte order mark that spreadsheets write.
	const decoder = new TextDecoder('utf-8', { fatal: true })
	let size = 0
	for await (const chunk of chunks) {
		size += chunk.byteLength
		if (size > maxBytes)
			throw new RestError('content_too_large', `The body may have at most ${maxBytes} bytes`)
		yield { rows: reader.push(decoded(decoder, chunk)), bytes: chunk.byteLength }
	}
	yield { rows: [...reader.push(decoded(decoder)), ...reader.end()], bytes: 0 }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
	try {
		return decoder.decode(chunk, { stream: chunk !== undefined })
	} catch (cause) {
		throw new RestError('bad_request', 'The body is not UTF-8', { cause })
	}
}

const DONE = /^\{"done":(\d+)\}$/

/** Numbers with this many digits may be rounded in a double. */
const LONG_NUMBER = /\d{16}/
const WHOLE = /^-?\d+$/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

class JsonLines implements RowReader {
	readonly #max: number
	/** The fields whose numbers must keep all their digits. */
	readonly #exact: readonly (readonly [name: string, pattern: RegExp])[]
	#text = ''
	#line = 0
	#records = 0
	/** Whether records may have a field of the name that the line at the end of an export has. */
	readonly #hasDone: boolean
	/** The last line, if it may be the one that ends an export. */
	#held: { readonly line: number; readonly text: string } | undefined

	constructor({ creatable }: CrudPlan, max: number) {
		this.#max = max
		this.#hasDone = creatable.has('done')
		this.#exact = [...creatable.values()].flatMap(({ name, field: { type } }) =>
			type === 'bigint' || type === 'decimal' ? [[name, type === 'bigint' ? WHOLE : DECIMAL] as const] : [],
		)
	}

	push(text: string): Row[] {
		const rows: Row[] = []
		// What came before isn't searched again: a long line may come byte by byte.
		const [first = '', ...others] = text.split('\n')
		const lines = [this.#text + first, ...others]
		this.#text = lines.pop() ?? ''
		for (const line of lines) this.#add(line, rows)
		this.#checkLength(this.#text, this.#line + 1)
		return rows
	}

	end(): Row[] {
		const rows: Row[] = []
		if (this.#text !== '') this.#add(this.#text, rows)
		const held = this.#held
		if (held === undefined) return rows
		// With another number, the export was edited, or it isn't one: the line is read as a record.
		const isEnd = Number(DONE.exec(held.text)?.[1]) === this.#records
		if (isEnd && !this.#hasDone) return rows
		const row = this.#read(held.text, held.line)
		return [...rows, isEnd ? { ...row, isLikeEnd: true } : row]
	}

	#add(given: string, rows: Row[]): void {
		const line = ++this.#line
		this.#checkLength(given, line)
		const text = given.trim()
		if (text === '') return
		if (this.#held !== undefined) {
			rows.push(this.#read(this.#held.text, this.#held.line))
			this.#held = undefined
		}
		if (DONE.test(text)) this.#held = { line, text }
		else rows.push(this.#read(text, line))
	}

	#checkLength({ length }: string, line: number): void {
		if (length > this.#max) throw lineError(line, 'max', `must have at most ${this.#max} characters`)
	}

	#read(text: string, line: number): Row {
		this.#records++
		try {
			const body: unknown = JSON.parse(text)
			checkParsed(body)
			if (isPlain(body)) return { line, body: this.#withDigits(body as Record<string, unknown>, text) }
		} catch (error) {
			const message = isRestError(error) ? `: ${error.message}` : ''
			return { line, problem: { code: 'json', message: `must be JSON${message}` } }
		}
		return { line, problem: { code: 'object', message: 'must be an object with named fields' } }
	}

	/** Replaces numbers that may be rounded by their digits: exports have 64-bit integers as numbers. */
	#withDigits(body: Record<string, unknown>, text: string): Record<string, unknown> {
		if (this.#exact.length === 0 || !LONG_NUMBER.test(text)) return body
		const members = memberTexts(text)
		for (const [name, pattern] of this.#exact) {
			const digits = members.get(name) ?? ''
			if (typeof body[name] === 'number' && pattern.test(digits)) body[name] = digits
		}
		return body
	}
}

class CsvRows implements RowReader {
	readonly #plan: CrudPlan
	readonly #csv: CsvReader
	/** Names and fields of the columns, once they are known. */
	#columns: readonly (readonly [name: string, field: Field | undefined])[] | undefined

	constructor(plan: CrudPlan, max: number) {
		this.#plan = plan
		this.#csv = new CsvReader(max)
	}

	push(text: string): Row[] {
		return this.#rows(() => this.#csv.push(text))
	}

	end(): Row[] {
		const rows = this.#rows(() => this.#csv.end())
		if (this.#columns === undefined)
			throw lineError(1, 'required', 'must have the names of the columns, separated by commas')
		return rows
	}

	#rows(read: () => CsvRow[]): Row[] {
		try {
			return read().flatMap((row) => this.#record(row) ?? [])
		} catch (error) {
			throw error instanceof CsvError ? lineError(error.line, 'csv', error.message) : error
		}
	}

	#record({ line, cells }: CsvRow): Row | undefined {
		const columns = this.#columns
		if (columns === undefined) {
			this.#columns = this.#columnsOf(line, cells)
			return undefined
		}
		if (cells.length === columns.length) return { line, body: bodyOf(columns, cells) }
		if (cells.length === 1 && cells[0] === null) return undefined
		const message = `must have as many cells as there are columns, ${columns.length}, and has ${cells.length}`
		return { line, problem: { code: 'csv', message } }
	}

	/** @throws RestError `invalid` for names that aren't of fields, or come twice */
	#columnsOf(line: number, cells: CsvRow['cells']): (readonly [string, Field | undefined])[] {
		const { creatable, visible } = this.#plan
		const names = cells.map((cell) => cellText(cell ?? ''))
		const problems: Detail[] = []
		for (const [at, name] of names.entries()) {
			const isKnown = creatable.has(name) || visible.has(name)
			if (isKnown && names.indexOf(name) === at) continue
			const code = isKnown ? 'repeated' : 'unknown'
			const message = isKnown ? 'is the name of another column, too' : 'is not a field that can be written'
			problems.push({ field: `${line}.${truncatedName(name)}`, code, message })
			if (problems.length >= MAX_PROBLEMS) break
		}
		if (problems.length > 0 && names.length === 1 && names[0]?.includes(';') === true)
			throw lineError(line, 'csv', 'must have the names of the columns, separated by commas, not semicolons')
		if (problems.length > 0) throw invalid(problems)
		return names.map((name) => [name, creatable.get(name)?.field] as const)
	}
}

function bodyOf(
	columns: readonly (readonly [string, Field | undefined])[],
	cells: CsvRow['cells'],
): Record<string, unknown> {
	const body: Record<string, unknown> = Object.create(null)
	for (const [at, [name, field]] of columns.entries()) {
		const cell = cells[at] ?? null
		const isEmpty = cell === null || (cell === '' && field !== undefined && !hasEmpty(field))
		// A field that can't be null gets its default.
		if (!isEmpty) body[name] = cellText(cell)
		else if (field?.nullable === true) body[name] = null
	}
	return body
}

/** Whether an empty text is a value of a field. */
function hasEmpty({ type }: Field): boolean {
	return type === 'text' || type === 'other' || type === 'bytes'
}

function lineError(line: number, code: string, message: string): RestError {
	return invalid([{ field: String(line), code, message }])
}
