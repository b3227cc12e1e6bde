/**
 * Gathered reads over HTTP and under load: none returns the state before an awaited write. Run short by the
 * `.test.ts`, long by the `.long.ts`.
 */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { openStore, type Store, type StoreName, storesHere } from './stores.ts'
import { allRows, handlersOf } from './things.ts'

const GATHERING: readonly StoreName[] = ['postgres', 'mariadb']
const RECORDS = 8

/** The number of reads and writes. */
export interface Load {
	readonly readers: number
	/** The number of writes per writer. */
	readonly rounds: number
}

interface Answer {
	readonly status: number
	readonly rank: number | undefined
}

async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
	const response = await fetch(url, init)
	// The handler's own answers have this shape; errors have no data.
	const { data } = (await response.json()) as { data?: { rank: number } }
	return { status: response.status, rank: data?.rank }
}

function sent(method: string, body: object): RequestInit {
	return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function fill(store: Store, base: string): Promise<string[]> {
	await store.emptied()
	for (let n = 0; n < RECORDS; n++)
		assert.is((await ask(base, sent('POST', { title: `t${n}`, rank: 0 }))).status, 201)
	return (await allRows(store.model)).map(({ id }) => String(id))
}

const stores = (await storesHere()).filter((one) => GATHERING.includes(one))

/** Suites over the stores with gathered reads; `prefix` names their tables. */
export function gathering(prefix: string, load: Load): void {
	for (const name of stores) overStore(name, prefix, load)
}

function overStore(name: StoreName, prefix: string, load: Load): void {
	describe(`gathered reads over ${name}`, (test) => {
		let store: Store
		test.before(async () => {
			store = await openStore(name, prefix, 4)
		})
		test.after(() => store.close())

		test('a read after an awaited write sees it, however many reads are running', () =>
			listening(handlersOf(store.model), {}, async ({ url }) => {
				const base = `${url}/things`
				const ids = await fill(store, base)
				// The last confirmed write of each record: a read that begins later returns this or a newer one.
				const written = new Map(ids.map((id) => [id, 0]))
				let isOver = false
				let reads = 0
				const reader = async (n: number) => {
					for (let at = n; !isOver; at++) {
						const id = ids[at % ids.length] ?? ''
						const least = written.get(id) ?? 0
						const { status, rank = -1 } = await ask(`${base}/${id}`)
						assert.is(status, 200)
						assert.ok(rank >= least, `${rank} was read after ${least} was written`)
						reads++
					}
				}
				const writer = async (id: string) => {
					for (let rank = 1; rank <= load.rounds; rank++) {
						assert.is((await ask(`${base}/${id}`, sent('PATCH', { rank }))).status, 200)
						written.set(id, rank)
						assert.is((await ask(`${base}/${id}`)).rank, rank, 'the own write is read')
					}
				}
				const readers = Array.from({ length: load.readers }, (_, n) => reader(n))
				// A failed reader must stop the others.
				const writers = Promise.all(ids.slice(0, 4).map(writer)).finally(() => {
					isOver = true
				})
				await Promise.all([writers, ...readers])
				assert.ok(reads > load.rounds, `only ${reads} reads`)
			}))

		test('a record is not read again once its deletion was awaited', () =>
			listening(handlersOf(store.model), {}, async ({ url }) => {
				const base = `${url}/things`
				const ids = await fill(store, base)
				for (const id of ids) {
					const crowd = Array.from({ length: 20 }, () => ask(`${base}/${id}`))
					assert.is((await ask(`${base}/${id}`, { method: 'DELETE' })).status, 200)
					const after = await Promise.all(Array.from({ length: 20 }, () => ask(`${base}/${id}`)))
					assert.equal(new Set(after.map(({ status }) => status)), new Set([404]))
					for (const { status } of await Promise.all(crowd)) assert.ok(status === 200 || status === 404)
				}
			}))

		test('malformed ids among valid ones each get the right answer', () =>
			listening(handlersOf(store.model), {}, async ({ url }) => {
				const base = `${url}/things`
				const ids = await fill(store, base)
				const bad = [
					'x',
					'0',
					'-1',
					'900000001',
					'9223372036854775807',
					'9223372036854775808',
					'01',
					'1.0',
					'%27',
				]
				for (let round = 0; round < 10; round++) {
					const all = [...ids, ...bad, ...ids, ...bad].sort((a, b) => (a + round < b + round ? -1 : 1))
					const answers = await Promise.all(all.map((id) => ask(`${base}/${id}`)))
					for (const [at, { status }] of answers.entries())
						assert.is(status, ids.includes(all[at] ?? '') ? 200 : 404, `${all[at]}`)
				}
			}))
	})
}
