/**
 * Totals of SQLite, which has neither exact decimals nor time zones. The statement groups records and sums parts of numbers
 * that fit into 64 bits; `having`, the order by totals and the JSON are left to this process, in which SQLite runs anyway.
 */
import type { Totaled } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Sql, TotalColumn, TotalsDialect, TotalsParts } from '../sql/dialect.ts'
import type { Rows } from '../sql/driver.ts'
import { GROUPS, isExtreme, writeExtreme, writeGroups } from '../sql/totals.ts'
import { type Cell, type Compare, finished, type Group, type Leaf, leavesOf } from '../totals/groups.ts'
import { columnJson, type Writing } from './json.ts'
import { keySql, Probe, partText } from './totals/keys.ts'
import { NULL, type Sum, sumOf } from './totals/sums.ts'

/** Maximum number of groups that are sorted, or compared, here. */
const MAX_GROUPS = 100_000

/** How many results of comparisons are packed into one number: JavaScript's bit operators take 32 bits. */
const BITS = 30

/** A group with the results of comparisons by the database. */
interface ComparedGroup extends Group {
	readonly bits: readonly number[]
}

/** The statement's columns, in the order of its rows. */
interface Plan {
	readonly sums: readonly Sum[]
	/** The comparisons that the database makes. */
	readonly leaves: readonly Leaf[]
	/** Whether the statement has the order and the limit. */
	readonly isSorted: boolean
}

export function totalsOf(writing: Writing): TotalsDialect {
	return {
		probe: (sql, parts) => new Probe(parts).write(sql),
		write(sql, parts, probed) {
			const probe = new Probe(parts, probed)
			write(sql, parts, planOf(parts, probe), probe, writing)
		},
		read: (rows, parts, probed) => read(rows, parts, planOf(parts, new Probe(parts, probed))),
	}
}

function planOf({ query, totals }: TotalsParts, probe: Probe): Plan {
	const { having, order } = query
	return {
		sums: totals.map((total) => sumOf(total, probe.decimalsOf(total))),
		leaves: leavesOf(having).filter(({ total }) => isSqlExtreme(totals[total])),
		isSorted: having === undefined && order.every((term) => 'key' in term),
	}
}

/** Whether a total is the `min` or `max` of a type that the database compares correctly. */
function isSqlExtreme(total: TotalColumn | undefined): boolean {
	return total !== undefined && isExtreme(total) && total.column.type !== 'decimal'
}

function write(sql: Sql, parts: TotalsParts, plan: Plan, probe: Probe, writing: Writing): void {
	const { query, keys, totals } = parts
	const column = (name: string) => `${GROUPS}."${name}"`
	const selected = keys.map(({ column: of, part }, at) => {
		const ref = column(`k${at}`)
		const json = part === undefined ? columnJson(of, ref, writing) : partText(part, ref)
		return `json_quote(${json})`
	})
	// Ranks stand for the values, which are compared here.
	const rank = (name: string) =>
		`dense_rank() over (order by ${column(name)} nulls last), ${column(name)} is null`
	if (!plan.isSorted) selected.push(...keys.map((_, at) => rank(`k${at}`)))
	for (const [at, { columns }] of plan.sums.entries()) {
		const total = totals[at]
		if (total === undefined || !isExtreme(total) || !isSqlExtreme(total))
			selected.push(...columns.map((_, n) => column(`a${at}_${n}`)))
		else
			selected.push(`json_quote(${columnJson(total.column, column(`a${at}_0`), writing)})`, rank(`a${at}_0`))
	}
	sql.add(`select ${selected.join(', ') || '1'}`)
	for (const [at, leaf] of plan.leaves.entries()) {
		const total = totals[leaf.total]
		if (total === undefined || !isExtreme(total)) continue
		sql.add(at % BITS === 0 ? ', case when ' : ' + case when ')
		writeExtreme(sql, leaf.op, total.column, column(`a${leaf.total}_0`), leaf.value)
		sql.add(` then ${1 << (at % BITS)} else 0 end`)
	}
	const columns = plan.sums.flatMap((sum, at) =>
		sum.columns.map((text, n) => ({ text, name: `a${at}_${n}` })),
	)
	writeGroups(
		sql.add(' from ('),
		parts,
		(one, key) => one.add(keySql(key, probe)),
		columns.map(({ text }) => text),
		(at) => columns[at]?.name ?? '',
	)
	sql.add(`) ${GROUPS}`)
	if (plan.isSorted && keys.length > 0) {
		const terms = query.order.map((term) => {
			const at = 'key' in term ? term.key : 0
			return `${column(`k${at}`)}${term.descending ? ' desc' : ''} nulls last`
		})
		sql.add(terms.length === 0 ? '' : ` order by ${terms.join(', ')}`)
	}
	sql.add(` limit ${plan.isSorted ? query.limit : MAX_GROUPS + 1}`)
}

/**
 * Returns `undefined` if values don't fit what the probe found, because they were changed since.
 *
 * @throws ModelError `too_large` for more than `MAX_GROUPS` groups
 */
function read({ rows }: Rows, { query, keys, totals }: TotalsParts, plan: Plan): Totaled | undefined {
	if (!plan.isSorted && rows.length > MAX_GROUPS) throw new ModelError('too_large')
	let isAsFound = true
	const groups = rows.map((row): ComparedGroup => {
		let at = 0
		const take = (count: number) => {
			at += count
			return row.slice(at - count, at)
		}
		const texts = take(keys.length)
		const ranks = plan.isSorted ? undefined : take(2 * keys.length)
		return {
			keys: texts.map((json, index) =>
				cellOf([json, ...(ranks?.slice(2 * index, 2 * index + 2) ?? [0n, 0n])]),
			),
			totals: plan.sums.map((sum, index): Cell => {
				if (isSqlExtreme(totals[index])) return cellOf(take(3))
				const values = take(sum.columns.length)
				isAsFound &&= sum.isAsFound?.(values) !== false
				return isAsFound ? sum.cell(values) : NULL
			}),
			bits: take(Math.ceil(plan.leaves.length / BITS)).map(Number),
		}
	})
	if (!isAsFound) return undefined
	const finishing = plan.isSorted ? { ...query, order: [] } : query
	return finished(finishing, groups, {
		keys: keys.map(() => byRank),
		totals: plan.sums.map((sum, index) => (isSqlExtreme(totals[index]) ? byRank : sum.compare)),
		operand: (leaf) => plan.sums[leaf.total]?.operand(leaf),
		made(leaf) {
			const at = plan.leaves.indexOf(leaf)
			if (at === -1) return undefined
			const [place, bit] = [Math.floor(at / BITS), 1 << (at % BITS)]
			return ({ bits }) => ((bits[place] ?? 0) & bit) !== 0
		},
	})
}

/** A cell from a value's JSON, its rank, and whether it is null. */
function cellOf([json, rank, isNull]: readonly unknown[]): Cell {
	return Number(isNull) === 1 ? NULL : { json: String(json), value: Number(rank) }
}

const byRank: Compare = (a, b) => Number(a) - Number(b)
