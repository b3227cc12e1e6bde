/** Records as visits make them up, and as they must be answered. */
import { pick, type Random, word } from '../../random.ts'
import type { Shelf } from '../load/ledger.ts'
import type { Visit } from '../load/visit.ts'
import type { Row } from '../services.ts'

/** Fewest and most records of a shelf: enough for several pages, and no more at the end than at the beginning. */
export const FEWEST = 8
export const MOST = 24

/** What a new record is given. The name of the visit makes the title one of its own. */
export function newValues(visit: Visit, shelf: Shelf): Omit<Row, 'id' | 'revision'> {
	const { random } = visit
	return { shelf: shelf.number, title: titleOf(visit), ...changedValues(random) }
}

/** Letters alone, so that every collation sorts them alike. */
function titleOf({ random, number }: Visit): string {
	const letters = number
		.toString(26)
		.replaceAll(/./g, (digit) => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)] ?? '')
	return `${word(random, 6)}z${letters}`
}

export function changedValues(random: Random): { rank: number; note: string | null } {
	return {
		rank: random(100),
		note: random(4) === 0 ? null : `of ${word(random, 5)} & "${word(random, 3)}" ü`,
	}
}

/** As the API shows it. */
export function shown({ id, shelf, title, rank, note }: Row): object {
	return { id, shelf, title, rank, note }
}

export function tag({ revision }: Row): string {
	return `"${revision}"`
}

/** A record of a shelf that has some. */
export function anyOf(shelf: Shelf, random: Random): Row {
	return pick([...shelf.records.values()], random)
}
