/**
 * Records from a JSON file, kept in memory: `{"posts":[{"id":1,"title":"a"}],"comments":[{"id":1,"postId":1}]}`. Types
 * are inferred from the values; `postId` and `post_id` refer to `post` or `posts` if all their values are ids there.
 */
import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { MemoryField } from '../models/memory/declared.ts'
import { MemoryModel } from '../models/memory/memory-model.ts'
import type { FieldType, Model } from '../models/model.ts'
import { ModelError } from '../models/model-error.ts'
import { UsageError } from './arguments.ts'
import type { Source } from './source.ts'

type Row = Readonly<Record<string, unknown>>

type References = NonNullable<ConstructorParameters<typeof MemoryModel>[1]['references']>

/** A table of the file. */
interface JsonTable {
	readonly name: string
	readonly rows: readonly Row[]
	readonly fields: Readonly<Record<string, MemoryField>>
	readonly key: readonly string[]
}

/** Opens a file. @param shown its name for people */
export function openJson(file: string, shown: string): Source {
	return {
		place: `${shown}, in memory`,
		isTransient: true,
		open: async () => modelsOf(await readTables(file, shown), shown),
		stamp: async () => {
			const { mtimeMs, size } = await stat(file).catch(unreadable(shown))
			return `${mtimeMs} ${size}`
		},
		close: async () => {},
	}
}

async function readTables(file: string, shown: string): Promise<JsonTable[]> {
	const text = await readFile(file, 'utf8').catch(unreadable(shown))
	// Windows' editors begin files with a byte order mark.
	const content = parsed(text.replace(/^\uFEFF/, ''), shown)
	if (!isRow(content)) throw new UsageError(`${shown} must be an object of lists: {"posts":[{"id":1}]}`)
	return Object.entries(content).map(([name, value]) => {
		const rows: unknown[] = Array.isArray(value) ? value : [value]
		const wrong = rows.findIndex((row) => !isRow(row))
		if (wrong >= 0)
			throw new UsageError(
				`${shown}: ${name}${Array.isArray(value) ? `[${wrong}]` : ''} must be ${Array.isArray(value) ? 'an object' : 'a list of objects, or an object'}, got ${JSON.stringify(rows[wrong])?.slice(0, 40)}`,
			)
		return tableOf(name, rows.filter(isRow))
	})
}

/** @returns a handler that turns an error of the file into a UsageError */
function unreadable(shown: string): (error: Error) => never {
	return ({ message }) => {
		throw new UsageError(`${shown} can't be read: ${message}`)
	}
}

function parsed(text: string, shown: string): unknown {
	try {
		return JSON.parse(text)
	} catch (error) {
		throw new UsageError(`${shown} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
	}
}

function isRow(value: unknown): value is Row {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tableOf(name: string, rows: readonly Row[]): JsonTable {
	const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
	const ids = rows.map((row) => fieldValue(row, 'id'))
	const isUnique = ids.length > 0 && ids.every(isId) && new Set(ids).size === ids.length
	const key = isUnique && typeOf(ids) !== 'json' ? ['id'] : []
	const fields = names.map((field): [string, MemoryField] => {
		const values = rows.map((row) => fieldValue(row, field))
		if (!key.includes(field))
			return [
				field,
				{ type: typeOf(values), nullable: values.some((value) => value === undefined || value === null) },
			]
		const type = typeOf(values)
		return [field, type === 'text' ? { type, default: () => randomUUID() } : { type }]
	})
	return { name, rows, key, fields: Object.fromEntries(fields) }
}

/** An own property: a field may be named `constructor`. */
function fieldValue(row: Row, field: string): unknown {
	return Object.hasOwn(row, field) ? row[field] : undefined
}

function isId(value: unknown): boolean {
	return Number.isSafeInteger(value) || (typeof value === 'string' && value !== '')
}

/** The common type of all values; `json` if they differ. */
function typeOf(values: readonly unknown[]): FieldType {
	const types = new Set(values.filter((value) => value !== undefined && value !== null).map(typeOfOne))
	if (types.size === 2 && types.has('integer') && types.has('float')) return 'float'
	const [type = 'json', other] = types
	return other === undefined ? type : 'json'
}

function typeOfOne(value: unknown): FieldType {
	if (typeof value === 'boolean') return 'boolean'
	if (typeof value === 'string') return 'text'
	if (typeof value !== 'number') return 'json'
	return Number.isSafeInteger(value) ? 'integer' : 'float'
}

/** Makes the models, referenced tables first; in a cycle, one reference is left out. */
function modelsOf(tables: readonly JsonTable[], shown: string): Record<string, Model> {
	const models = new Map<string, MemoryModel>()
	const make = (table: JsonTable, path: readonly JsonTable[]): MemoryModel => {
		const own = models.get(table.name)
		if (own !== undefined) return own
		const references = Object.keys(table.fields).flatMap((field) => {
			const target = targetOf(table, field, tables)
			if (target === undefined || target === table || path.includes(target)) return []
			return [{ field, model: make(target, [...path, table]) }]
		})
		const model = modelOf(table, references, shown)
		models.set(table.name, model)
		return model
	}
	// Without a prototype, because a table may be named `constructor`.
	return Object.assign(
		Object.create(null),
		Object.fromEntries(tables.map((table) => [table.name, make(table, [])])),
	)
}

function modelOf({ name, fields, key, rows }: JsonTable, references: References, shown: string): MemoryModel {
	try {
		return new MemoryModel(name, { fields, key, references, rows })
	} catch (error) {
		// For example a text with \u0000.
		const cause = error instanceof Error ? error.cause : undefined
		if (!(cause instanceof ModelError)) throw error
		throw new UsageError(`${shown}: ${name} has a value of ${cause.fields.join(', ')} that can't be stored`)
	}
}

/** The table that a field refers to: `postId` to `post` or `posts`, if all its values are ids there. */
function targetOf({ rows }: JsonTable, field: string, tables: readonly JsonTable[]): JsonTable | undefined {
	const [, base] = /^(.+?)(?:_id|Id)$/.exec(field) ?? []
	if (base === undefined) return undefined
	const names = [base, `${base}s`, `${base}es`, base.replace(/y$/, 'ies')]
	const target = tables.find(({ name, key }) => key.length > 0 && names.includes(name))
	const ids = new Set(target?.rows.map((row) => row.id))
	const values = rows
		.map((row) => fieldValue(row, field))
		.filter((value) => value !== undefined && value !== null)
	return values.length > 0 && values.every((value) => ids.has(value)) ? target : undefined
}
