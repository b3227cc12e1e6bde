/**
 * Records from a JSON file, kept in memory: `{"posts":[{"id":1,"title":"a"}],"comments":[{"id":1,"postId":1}]}`. Types are
 * those of the values; `postId` and `post_id` refer to `post` or `posts` if all their values are ids there.
 */
import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { MemoryField } from '../models/memory/declared.ts'
import { MemoryModel } from '../models/memory/memory-model.ts'
import type { FieldType, Model } from '../models/model.ts'
import { UsageError } from './arguments.ts'
import type { Source } from './source.ts'

type Row = Readonly<Record<string, unknown>>

/** A table of the file. */
interface Table {
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
		open: async () => modelsOf(await tablesIn(file, shown)),
		stamp: async () => {
			const { mtimeMs, size } = await stat(file)
			return `${mtimeMs} ${size}`
		},
		close: async () => {},
	}
}

async function tablesIn(file: string, shown: string): Promise<Table[]> {
	const content = parsed(await readFile(file, 'utf8'), shown)
	if (!isRow(content)) throw new UsageError(`${shown} must be an object of lists: {"posts":[{"id":1}]}`)
	return Object.entries(content).map(([name, value]) => {
		const rows: unknown[] = Array.isArray(value) ? value : [value]
		const wrong = rows.findIndex((row) => !isRow(row))
		if (wrong >= 0)
			throw new UsageError(
				`${shown}: ${name}${Array.isArray(value) ? `[${wrong}]` : ''} must be an object, got ${JSON.stringify(rows[wrong])?.slice(0, 40)}`,
			)
		return tableOf(name, rows.filter(isRow))
	})
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

function tableOf(name: string, rows: readonly Row[]): Table {
	const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
	const ids = rows.map((row) => row.id)
	const isUnique = ids.length > 0 && ids.every(isId) && new Set(ids).size === ids.length
	const key = isUnique && typeOf(ids) !== 'json' ? ['id'] : []
	const fields = names.map((field): [string, MemoryField] => {
		const values = rows.map((row) => row[field])
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

function isId(value: unknown): boolean {
	return Number.isSafeInteger(value) || (typeof value === 'string' && value !== '')
}

/** The type that all values have; JSON that of values of several. */
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

/** Makes each table's model behind those that it refers to; of tables in a circle, one doesn't refer to the next. */
function modelsOf(tables: readonly Table[]): Record<string, Model> {
	const models = new Map<string, MemoryModel>()
	const make = (table: Table, path: readonly Table[]): MemoryModel => {
		const own = models.get(table.name)
		if (own !== undefined) return own
		const references = Object.keys(table.fields).flatMap((field) => {
			const target = targetOf(table, field, tables)
			if (target === undefined || target === table || path.includes(target)) return []
			return [{ field, model: make(target, [...path, table]) }]
		})
		const { name, fields, key, rows } = table
		const model = new MemoryModel(name, { fields, key, references, rows })
		models.set(name, model)
		return model
	}
	// Without a prototype, because a table may be named `constructor`.
	return Object.assign(
		Object.create(null),
		Object.fromEntries(tables.map((table) => [table.name, make(table, [])])),
	)
}

/** The table that a field refers to: `postId` to `post` or `posts`, if all its values are ids there. */
function targetOf({ rows }: Table, field: string, tables: readonly Table[]): Table | undefined {
	const [, base] = /^(.+?)(?:_id|Id)$/.exec(field) ?? []
	if (base === undefined) return undefined
	const names = [base, `${base}s`, `${base}es`, base.replace(/y$/, 'ies')]
	const target = tables.find(({ name, key }) => key.length > 0 && names.includes(name))
	const ids = new Set(target?.rows.map((row) => row.id))
	const isReference = rows.every(
		(row) => row[field] === undefined || row[field] === null || ids.has(row[field]),
	)
	return isReference ? target : undefined
}
