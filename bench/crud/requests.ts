/** The requests of the CRUD workloads. */
import { type Random, word } from '../random.ts'
import { get } from '../requests.ts'
import { FIRST_ID } from './tables.ts'

/** Records per page. */
export const LIMIT = 100

/** The path of a random record of a table with `rows` rows. */
export function recordPath(name: string, rows: number, random: Random): string {
	return `/api/${name}/${FIRST_ID + random(rows)}`
}

/** A page of the newest records, from an offset on. */
export function pageAt(name: string, offset: number): Buffer {
	return get(`/api/${name}?limit=${LIMIT}&offset=${offset}&sort=-created`)
}

/** The page after a server's cursor. */
export function pageBehind(name: string, cursor: string): Buffer {
	return get(`/api/${name}?limit=${LIMIT}&cursor=${encodeURIComponent(cursor)}&sort=-created`)
}

/** A server's cursors to the pages from these offsets on. */
export async function cursorsOf(port: number, name: string, offsets: readonly number[]): Promise<string[]> {
	const cursors: string[] = []
	for (const offset of offsets) {
		const path = `/api/${name}?limit=1&offset=${offset - 1}&sort=-created`
		const answer = await fetch(`http://127.0.0.1:${port}${path}`)
		const { meta } = (await answer.json()) as { meta?: { next?: string | null } }
		if (typeof meta?.next !== 'string') throw new Error(`${path}: there is no cursor in the answer`)
		cursors.push(meta.next)
	}
	return cursors
}

/** JSON of a new article. */
export function newArticle(random: Random): string {
	return JSON.stringify({
		author_id: 1_000 + random(9_000),
		title: `Article on ${word(random, 20)}`,
		body: `${word(random, 60)}, "${word(random, 40)}"\n${word(random, 30)}.`,
		status: random(3) === 0 ? 'draft' : 'published',
		views: random(100_000),
		rating: random(10) === 0 ? null : 1 + random(40) / 10,
		published: random(3) !== 0,
	})
}

/** JSON of a change to an article. */
export function changedArticle(random: Random): string {
	return JSON.stringify({ title: `Article on ${word(random, 24)}`, views: random(100_000) })
}
