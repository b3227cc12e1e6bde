/** The keys of SQLite's totals, parts of times in a zone; and `Probe`, which reads what the statement must know of the records. */
import type { TimePart } from '../../model.ts'
import type { KeyColumn, Sql, TotalColumn, TotalsParts } from '../../sql/dialect.ts'
import { type OffsetWords, offsetOf, timeOf, zonedKeys } from '../../sql/offsets.ts'
import { FOLD_TO_YEAR } from '../../totals/time-zone.ts'
import { isWireSql, timestampSql } from '../json.ts'
import { formatOf } from '../types.ts'
import { type Decimals, decimalsOf, PROBED, probeSql } from './decimals.ts'

type OfColumn = Extract<TotalColumn, { readonly ref: string }>

/** Number of expressions for a key in another zone than UTC. */
const TIMES = 3

/** The first and the last time of each key in another zone than UTC, and how decimals are stored. */
export class Probe {
	readonly #parts: TotalsParts
	readonly #row: readonly unknown[]
	readonly #zoned: readonly KeyColumn[]
	/** The first total of each decimal column. */
	readonly #decimals: readonly OfColumn[]

	/** @param row the result of the statement that `write` has written */
	constructor(parts: TotalsParts, row: readonly unknown[] = []) {
		const { totals } = parts
		this.#parts = parts
		this.#row = row
		this.#zoned = zonedKeys(parts)
		const decimals = totals.filter(
			(total): total is OfColumn => 'column' in total && total.column.type === 'decimal',
		)
		this.#decimals = decimals.filter(({ ref }, at) => decimals.findIndex((one) => one.ref === ref) === at)
	}

	/** Returns false if nothing has to be known. */
	write(sql: Sql): boolean {
		const times = this.#zoned.flatMap((key) => [
			`min(${utcSql(key)})`,
			`max(${utcSql(key)})`,
			`min(${isWireSql(key.ref)})`,
		])
		const all = [...times, ...this.#decimals.flatMap(probeSql)]
		if (all.length === 0) return false
		this.#parts.source(sql.add(`select ${all.join(', ')}`))
		return true
	}

	/** What is known of the decimals of a total; `undefined` if it has none. */
	decimalsOf(total: TotalColumn): Decimals | undefined {
		const place = this.#decimals.findIndex((one) => 'ref' in total && one.ref === total.ref)
		const column = this.#decimals[place]
		const at = TIMES * this.#zoned.length + PROBED * place
		return column && decimalsOf(column, this.#row.slice(at, at + PROBED))
	}

	/** The time of a key in the query's zone, as a text in the wire's format. */
	localSql(key: KeyColumn): string {
		const place = this.#zoned.indexOf(key)
		if (place === -1) return utcSql(key)
		const [first, last, isWire] = this.#row.slice(TIMES * place, TIMES * (place + 1))
		const utc = Number(isWire) === 1 ? key.ref : utcSql(key)
		const [from, to] = [timeOf(first), timeOf(last)]
		const spans = this.#parts.spans(from, to)
		return once('utc', utc, (time) => {
			const ahead = offsetOf(time, spans, to, OFFSETS)
			const local = `strftime('%Y-%m-%dT%H:%M:%S', substr(${time}, 1, 19), (${ahead}) || ' seconds')`
			// UTC if the local time is out of the range of SQLite's functions.
			return `coalesce(${local}, ${time})`
		})
	}
}

const OFFSETS: OffsetWords = {
	once: (value, write) => once('alike', value, write),
	isBefore: (time, moment) => `${time} < '${moment}'`,
	folded: (time) =>
		`printf('%04d', (substr(${time}, 1, 4) - ${FOLD_TO_YEAR}) % 400 + ${FOLD_TO_YEAR}) || substr(${time}, 5)`,
}

/** Evaluates an expression once: SQLite would copy it to each use of its name, but not out of a select without a table. */
function once(name: string, value: string, write: (name: string) => string): string {
	return `(select ${write(name)} from (select ${value} as ${name}))`
}

function utcSql({ column, ref }: KeyColumn): string {
	return column.type === 'timestamp' ? timestampSql(ref, formatOf(column.storage).kind) : ref
}

/** What is grouped by; for a week its Thursday, which is in the year that the week belongs to. */
export function keySql(key: KeyColumn, probe: Probe): string {
	return key.part === undefined ? key.ref : partSql(key.part, probe.localSql(key))
}

function partSql(part: TimePart, time: string): string {
	switch (part) {
		case 'year':
			return `substr(${time}, 1, 4)`
		case 'quarter':
			return `substr(${time}, 1, 4) || '-Q' || ((substr(${time}, 6, 2) + 2) / 3)`
		case 'month':
			return `substr(${time}, 1, 7)`
		case 'week':
			return `date(${time}, '-3 days', 'weekday 4')`
		case 'day':
			return `substr(${time}, 1, 10)`
		default:
			return `substr(${time}, 1, 13)`
	}
}

/** The text of a part, written once per group. Older SQLite has no format for weeks. */
export function partText(part: TimePart, ref: string): string {
	if (part !== 'week') return ref
	return `strftime('%Y-W', ${ref}) || printf('%02d', (strftime('%j', ${ref}) - 1) / 7 + 1)`
}
