/** Requests through relations to a database that fails, with checks of every answer and of the database afterwards. */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import type { Handlers } from '../../../lib/index.ts'
import { listening, until } from '../../helpers/listening.ts'
import { ask, assertUnavailable, withoutUnhandled } from './answers.ts'
import { LAST_READ, type Models, PLACES, type RelatedStore, relatedHandlers } from './related-stores.ts'

const READ_ONLY = `id[lte]=${LAST_READ}&limit=${LAST_READ}`
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))

/** What the writers don't change. The third has more related records than PostgreSQL embeds in one statement. */
export const READS: readonly string[] = [
	`article?${READ_ONLY}&include=author,comments,tags&sort=-id`,
	`article/7?include=comments.article,author,tags`,
	`article?${READ_ONLY}&include=${json({ comments: { limit: 150, count: 'exact' }, tags: true })}`,
	'article/7/comments?include=article.author&count=exact&sort=-id&limit=2',
	`article?${READ_ONLY}&filter=${json({ comments: { some: { text: { startsWith: 'comment 5' } } } })}&sort=author.name&count=exact`,
	`tag/1/articles?${READ_ONLY}&include=author,comments`,
	'article/7/author',
]

/** A site over a store, with the answers of the reads when all is well. */
export interface RelatedSite {
	readonly store: RelatedStore
	url(path: string): string
	/** Asks, and fails unless the answer is that of a healthy database, or a 503 by which nothing was done. */
	read(path: string): Promise<'whole' | 'unavailable'>
}

/** Serves a store, runs `use`, and fails if a place of the pool is lost afterwards, or a promise rejected unheard. */
export async function atRelated(
	opened: Promise<RelatedStore>,
	use: (site: RelatedSite) => Promise<void>,
	more: (models: Models) => Handlers = () => ({}),
): Promise<void> {
	const store = await opened
	try {
		await withoutUnhandled(() =>
			listening({ ...relatedHandlers(store.models), ...more(store.models) }, {}, async ({ url: origin }) => {
				const url = (path: string) => new URL(path, origin).href
				const whole = new Map<string, string>()
				for (const path of READS) {
					const { status, text } = await ask(url(path))
					assert.is(status, 200, text)
					whole.set(path, text)
				}
				const read = async (path: string) => {
					const answer = await ask(url(path))
					if (answer.status === 200) {
						assert.is(answer.text, whole.get(path))
						return 'whole'
					}
					assertUnavailable(answer, /^unavailable$/)
					return 'unavailable'
				}
				const site = { store, url, read }
				await use(site)
				await assertServed(site)
			}),
		)
	} finally {
		await store.close()
	}
}

/**
 * All reads are answered again, and as many at the same time as the pool has places. postgres.js may notice an ended
 * connection as late as by the next request: that one is unavailable, and it is tried again.
 */
async function assertServed({ store, read }: RelatedSite): Promise<void> {
	for (const path of READS) await untilWhole(() => read(path))
	const [path = ''] = READS
	const useAll = async () => {
		await store.lock('article')
		let answered = 0
		const all = Array.from({ length: PLACES }, () => read(path).finally(() => answered++))
		let waiting = 0
		await until(async () => {
			waiting = Math.max(waiting, await store.waiting())
			return waiting === PLACES || answered > 0
		}, 'every place of the pool is used').finally(() => store.unlock())
		const answers = await Promise.all(all)
		return waiting === PLACES && answers.every((answer) => answer === 'whole')
	}
	await until(useAll, 'every place of the pool serves')
}

/** Repeats a request that may meet a connection which has ended. */
export function untilWhole(send: () => Promise<'whole' | 'unavailable'>): Promise<void> {
	return until(async () => (await send()) === 'whole', 'the request is answered again')
}

/**
 * Sends a request while a table, or one of its records, is locked, runs `harm` once the request waits for it, and unlocks the table when the request
 * is answered.
 *
 * @returns the answer; `undefined` for `harm` if the request has not waited
 */
export async function lockedOut<T>(
	{ store }: RelatedSite,
	table: string,
	send: () => Promise<T>,
	harm: () => Promise<unknown>,
	id?: number,
): Promise<{ readonly answer: T; readonly isHarmed: boolean }> {
	await store.lock(table, id)
	try {
		let isAnswered = false
		const answer = send().finally(() => {
			isAnswered = true
		})
		// Awaited below; until then a failure must not count as an unhandled rejection.
		answer.catch(() => {})
		let isHarmed = false
		// A session that waited for a moment only is no longer there to be ended.
		while (!isHarmed && !isAnswered) {
			await until(async () => isAnswered || (await store.waiting()) > 0, 'an answer, or a lock')
			if (!isAnswered) isHarmed = (await harm()) !== 0
		}
		return { answer: await answer, isHarmed }
	} finally {
		await store.unlock()
	}
}

/** Clients that send requests one after the other while `harm` is done to the database, so many times. */
export async function underFire(
	site: RelatedSite,
	times: number,
	harm: () => Promise<unknown>,
): Promise<{ whole: number; unavailable: number; wrote: number; unknown: number }> {
	const seen = { whole: 0, unavailable: 0, wrote: 0, unknown: 0 }
	let isOver = false
	const loop = async (one: (turn: number) => Promise<keyof typeof seen>, first: number) => {
		for (let turn = first; !isOver; turn++) {
			const outcome = await one(turn)
			seen[outcome]++
			if (outcome !== 'whole' && outcome !== 'wrote') await setTimeout(5)
		}
	}
	const readers = [0, 2, 4].map((first) => loop((turn) => site.read(READS[turn % READS.length] ?? ''), first))
	const writers = [1, 2, 3].map((at) => loop(writer(site, LAST_READ + at), 0))
	const clients = Promise.all([...readers, ...writers])
	// Awaited below, as above.
	clients.catch(() => {})
	try {
		for (let time = 0; time < times; time++) {
			const before = seen.whole
			await setTimeout(Math.random() * 20)
			await harm()
			// Not so fast that nobody is ever served.
			await Promise.race([until(() => seen.whole > before, 'service between two harms'), clients])
		}
		await Promise.race([until(() => seen.wrote > 0, 'a write that is done'), clients])
	} finally {
		isOver = true
		await clients
	}
	return seen
}

/** Ties, unties and comments one article, and compares each answer with the database. */
function writer({ store, url }: RelatedSite, article: number) {
	const tag = 4
	// The database may be gone for a while.
	const count = async (text: string) => {
		let found: number | undefined
		await until(async () => {
			found = await store.rows(`select count(*) from ${text}`).then(
				(rows) => Number(rows[0]?.[0]),
				() => undefined,
			)
			return found !== undefined
		}, 'the database answers')
		return found
	}
	const tied = () => count(`T_article_tag where article_id = ${article} and tag_id = ${tag}`)
	return async (turn: number): Promise<'wrote' | 'unavailable' | 'unknown'> => {
		const text = `turn ${turn}`
		const commented = () => count(`T_comment where article_id = ${article} and text = '${text}'`)
		const before = await tied()
		const [method, path, body, state, done] = (
			[
				['PUT', `tags/${tag}`, undefined, tied, 1],
				['DELETE', `tags/${tag}`, undefined, tied, 0],
				['POST', 'comments', { text }, commented, 1],
			] as const
		)[turn % 3] ?? ['POST', 'comments', { text }, commented, 1]
		const response = await fetch(
			url(`article/${article}/${path}?${method === 'POST' ? 'include=article' : ''}`),
			{
				method,
				...(body === undefined
					? {}
					: { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
			},
		)
		const told = await response.text()
		const code =
			response.ok || response.status === 404 ? undefined : (JSON.parse(told) as { code: string }).code
		const after = await state()
		const undone = method === 'POST' ? 0 : before
		const what = `${method} ${path}: ${response.status} ${told}`
		if (code === 'outcome_unknown') {
			assert.is(response.status, 503, what)
			// Awaited until the database has ended it: a commit may be under way.
			assert.ok(after === done || after === undone, what)
			return 'unknown'
		}
		if (code !== undefined) {
			assert.equal([response.status, code, after], [503, 'unavailable', undone], what)
			return 'unavailable'
		}
		// What an unknown outcome has untied already isn't there.
		if (response.status === 404) assert.equal([method, before], ['DELETE', 0], what)
		else assert.equal([response.status, after], [method === 'POST' ? 201 : 204, done], what)
		return 'wrote'
	}
}
