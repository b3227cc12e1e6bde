/**
 * Lists of records and transactions whose connection is ended in one of their statements: each answer is compared with the
 * database, and repeated.
 */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CrudHandler, type Handlers, transaction } from '../../../lib/index.ts'
import { until } from '../../helpers/listening.ts'
import { lockedOut, type RelatedSite } from './related.ts'
import type { Models } from './related-stores.ts'

/** The tag that what is written refers to. */
const TAG = 4

export function manyHandlers({ note, tag }: Models): Handlers {
	const tags = new CrudHandler(tag, { visible: 'all' })
	class Notes extends CrudHandler {
		override idempotencyKeys = 'anyone' as const

		async post_pair() {
			const { text } = this.getParams({ text: ['required', 'string'] })
			return transaction([this, tags], async ([notes, inTags]) => {
				await notes.create({ text, tag_id: TAG })
				await inTags.create({ name: text })
				await notes.create({ text, tag_id: TAG })
				return 'done'
			})
		}
	}
	const notes = new Notes(note, {
		...{ visible: 'all', updatable: ['text', 'tag_id'], version: 'version' },
		allow: ['list', 'createMany', 'updateMany', 'removeMany'],
	})
	return { note: notes }
}

/** A table, or one of its records. */
type Lock = readonly [table: string, id?: number | undefined]

export interface Operation {
	readonly name: string
	request(text: string, ids: readonly number[]): readonly [method: string, path: string, body?: unknown]
	/** Counts what is stored: 0 or 3. `WHERE` stands for the notes there were before. */
	readonly stored: string
	/** Tables and records whose lock the operation waits for, in its first statement, a later one, or on PostgreSQL its commit. */
	locks(ids: readonly number[]): readonly Lock[]
}

export const OPERATIONS: readonly Operation[] = [
	{
		name: 'createMany',
		request: (text) => ['POST', 'note', [1, 2, 3].map(() => ({ text, tag_id: TAG }))],
		stored: "select count(*) from T_note where text = 'TEXT'",
		locks: () => [['note'], ['tag', TAG]],
	},
	{
		name: 'updateMany',
		request: (text, ids) => ['PATCH', 'note', ids.map((id) => ({ id, text, tag_id: TAG }))],
		// A change that is done twice has another version.
		stored: "select sum(version) - 3 from T_note where WHERE and (version = 1 or text = 'TEXT')",
		locks: (ids) => [
			['note', ids[0]],
			['note', ids[1]],
			['note', ids[2]],
			['tag', TAG],
		],
	},
	{
		name: 'removeMany',
		request: (_, ids) => ['DELETE', `note?id[in]=${ids.join()}`],
		stored: 'select 3 - count(*) from T_note where WHERE',
		locks: (ids) => [['note'], ['note', ids[0]], ['note', ids[2]]],
	},
	{
		name: 'transaction',
		request: (text) => ['POST', 'note/pair', { text }],
		stored: `select (select count(*) from T_tag where name = 'TEXT') + (select count(*) from T_note where text = 'TEXT')`,
		locks: () => [['note'], ['tag'], ['tag', TAG]],
	},
]

/** An answer in short: `201`, or `503 unavailable`. */
async function answerTo(
	site: RelatedSite,
	key: string,
	[method, path, body]: ReturnType<Operation['request']>,
): Promise<string> {
	const sent =
		body === undefined
			? {}
			: {
					body: JSON.stringify(body),
					headers: { 'content-type': 'application/json', 'idempotency-key': key },
				}
	const response = await fetch(site.url(path), { method, ...sent })
	const text = await response.text()
	if (response.ok) return 'ok'
	return `${response.status} ${(JSON.parse(text) as { code: string }).code}`
}

/**
 * Ends the connection once in each of the operation's statements in turn, and after that at any time, so many times.
 *
 * @returns how often there was which answer
 */
export async function endedWithin(
	site: RelatedSite,
	operation: Operation,
	times: number,
): Promise<Readonly<Record<string, number>>> {
	const seen: Record<string, number> = {}
	for (let time = 0; time < times; time++) {
		const answer = await endedOnce(site, operation, time)
		seen[answer] = (seen[answer] ?? 0) + 1
	}
	return seen
}

async function endedOnce(site: RelatedSite, operation: Operation, time: number): Promise<string> {
	const { rows } = site.store
	const text = `${operation.name}-${time}`
	await rows(
		`insert into T_note (text, tag_id) values ('old ${text}', 1), ('old ${text}', 1), ('old ${text}', 1)`,
	)
	const ids = (await rows(`select id from T_note where text = 'old ${text}' order by id`)).map(([id]) =>
		Number(id),
	)
	const request = operation.request(text, ids)
	const sql = operation.stored.replaceAll('TEXT', text).replaceAll('WHERE', `id in (${ids.join()})`)
	const stored = async () => Number((await rows(sql))[0]?.[0])
	const send = (key: string) => answerTo(site, key, request)
	const locks = [...operation.locks(ids), undefined]
	const answer = await harmed(site, locks[time % locks.length], () => send(text))
	const before = await stored()
	const what = `${text}: ${answer}`
	if (answer === '503 outcome_unknown')
		assert.ok(before === 0 || before === 3, `${what}, ${before} are stored`)
	else assert.is(before, { ok: 3, '503 unavailable': 0 }[answer], what)

	const repeat = await untilTold(() => send(text))
	const isKept = answer === '503 outcome_unknown' && request[0] !== 'DELETE'
	assert.is(repeat, isKept ? '409 conflict' : 'ok', what)
	assert.is(await stored(), isKept ? before : 3, `${what}, repeated`)
	if (isKept && before === 0) assert.is(await untilTold(() => send(`${text}-again`)), 'ok', what)
	assert.is(await stored(), 3, `${what}, repeated`)
	await rows(`delete from T_note where text in ('${text}', 'old ${text}')`)
	return answer
}

/** The answer to a request whose connection is ended while it waits for a lock, or at any time. */
async function harmed(
	site: RelatedSite,
	lock: Lock | undefined,
	send: () => Promise<string>,
): Promise<string> {
	if (lock === undefined) {
		const late = setTimeout(Math.random() * 8).then(() => site.store.end('all'))
		const [answer] = await Promise.all([send(), late])
		return answer
	}
	const [table, id] = lock
	const { answer, isHarmed } = await lockedOut(site, table, send, () => site.store.end('waiting'), id)
	assert.ok(isHarmed, `nothing has waited for ${lock}: ${answer}`)
	return answer
}

/** The answer of a healthy database: a connection that has ended may be noticed as late as by the next request. */
async function untilTold(send: () => Promise<string>): Promise<string> {
	let answer = ''
	await until(async () => {
		answer = await send()
		return answer !== '503 unavailable'
	}, 'the request is answered')
	return answer
}
