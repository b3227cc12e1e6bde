/**
 * Large related records, for which a statement has written only marks (see `related.ts`): reads each of them once, by its
 * key, with one statement for each relation. Called by `lists.ts` and `gathered-reads.ts`.
 */
import type { Bytes } from '../../base/time.ts'
import type { Condition } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { writeCondition } from './condition.ts'
import { type Dialect, Sql } from './dialect.ts'
import { type Embedded, type EmbeddedApart, type ReadApart, Unread } from './embedding.ts'
import { fillMarks } from './related.ts'
import type { Runner } from './runner.ts'
import { subjectOfModel } from './subject.ts'
import { ALIAS, type Column, tableName, valueOfText } from './table.ts'

/**
 * Calls `parse`; if it throws `Unread`, reads the missing records and calls it again with them.
 *
 * @param maxBytes maximum size of all copies of large records together
 * @throws ModelError `too_large`; `busy` if a record was changed in the meantime
 */
export async function withApart<T>(
	embedded: Embedded | undefined,
	{ runner, dialect, maxBytes }: { runner: Runner; dialect: Dialect; maxBytes: Bytes },
	parse: (apart?: ReadApart) => T,
): Promise<T> {
	try {
		return parse()
	} catch (error) {
		if (!(error instanceof Unread) || embedded === undefined) throw error
		// Checked before they are read, because no page could hold them.
		if (error.bytes > maxBytes) throw new ModelError('too_large')
		const apart = new Map<string, string>()
		for (const [number, marks] of error.marks) {
			const one = embedded.apart[number]
			if (one !== undefined) await readOf(one, number, marks, apart, runner, dialect)
		}
		return parseAgain(parse, apart)
	}
}

function parseAgain<T>(parse: (apart?: ReadApart) => T, apart: ReadApart): T {
	try {
		return parse(apart)
	} catch (error) {
		throw error instanceof Unread ? new ModelError('busy', [], error) : error
	}
}

async function readOf(
	{ model, selected, where, mark }: EmbeddedApart,
	number: number,
	marks: ReadonlySet<string>,
	apart: Map<string, string>,
	runner: Runner,
	dialect: Dialect,
): Promise<void> {
	const { table, columns, keys } = subjectOfModel(model)
	const sql = new Sql(dialect)
	const record = dialect.embedding?.record(selected, ALIAS, [])
	sql.add(`select ${mark(ALIAS)}, ${record} from ${tableName(dialect, table)} ${ALIAS} where `)
	const isOne = isOneOf(keys, [...marks].map(keyIn))
	// Checked again, because records may have left the scope since the first statement.
	writeCondition(
		sql,
		where === undefined ? isOne : { op: 'and', terms: [isOne, where] },
		columns,
		ALIAS,
		'many',
	)
	const { rows } = await runner.run(sql.statement(false))
	for (const [key, json] of rows) {
		const text = fillMarks(json, { lists: [], apart: [] }, dialect)
		apart.set(`l${number}:${String(key)}`, text.slice(0, -1))
	}
}

/** The key in a mark, after the size. */
function keyIn(mark: string): string[] {
	const values = JSON.parse(mark.slice(mark.indexOf(',') + 1)) as unknown[] // written by `Embedding.key`
	return values.map(String)
}

function isOneOf(keys: readonly Column[], all: readonly (readonly string[])[]): Condition {
	const [key] = keys
	if (keys.length === 1 && key !== undefined)
		return { op: 'in', field: key.name, values: all.map(([id = '']) => valueOfText(id, key)), exact: true }
	const terms = all.map((values): Condition => {
		const parts = keys.map((one, at): Condition => {
			return { op: 'eq', field: one.name, value: valueOfText(values[at] ?? '', one), exact: true }
		})
		return { op: 'and', terms: parts }
	})
	return { op: 'or', terms }
}
