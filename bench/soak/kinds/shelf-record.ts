/** Random records for visits, and how they must appear in responses. */
import { pick, type Random, word } from '../../random.ts'
import type { Shelf } from '../load/ledger.ts'
import type { Visit } from '../load/visit.ts'
import type { Row } from '../services.ts'

/** Bounds of the records on a shelf: enough for several pages, and not growing during a run. */
export const FEWEST = 8
export const MOST = 24

/** The values of a new record. The title contains the name of the visit, so it is unique. */
export function newValues(visit: Visit, shelf: Shelf): Omit<Row, 'id' | 'revision'> {
	const { random } = visit
	return { shelf: shelf.number, title: titleOf(visit), ...changedValues(random) }
}

/** Only letters, so that every collation sorts them in the same order. */
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

/** A record as it is in responses. */
export function shown({ id, shelf, title, rank, note }: Row): object {
	return { id, shelf, title, rank, note }
}

export function tag({ revision }: Row): string {
	return `"${revision}"`
}

/** A random record of a shelf that isn't empty. */
export function anyOf(shelf: Shelf, random: Random): Row {
	return pick([...shelf.records.values()], random)
}
