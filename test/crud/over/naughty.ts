/**
 * Naughty strings at every place where a client can send one, over every store: each round-trips, or is refused with
 * 4xx, and the table is unchanged.
 */
import * as assert from 'uvu/assert'
import type { InjectedReply, InjectedRequest, Model } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Asked, allRows, OPTIONS, serve } from './things.ts'

/** Characters of the longest text that is looked for in others, and words of the longest search. */
const LONGEST_PART = 1_000
const MOST_WORDS = 20

/** Words that would reveal a driver, a database or this machine. */
const TELLTALE =
	/sqlite|postgres|mariadb|mysql|syntax|SQLSTATE|ER_[A-Z]{3}|22P0\d|select .* from|crudover|collation|node_modules|\.ts:\d/i

/** JSON as a naive client would write it: lone surrogates as escapes. */
function json(method: string, url: string, body: unknown): InjectedRequest {
	return { method, url, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** Percent-encoded; `undefined` for texts without a UTF-8 form. */
function encoded(text: string): string | undefined {
	try {
		return encodeURIComponent(text)
	} catch {
		return undefined
	}
}

/** The places in a read request where a text can be. */
const READS: Readonly<Record<string, (text: string) => string>> = {
	'an id': (text) => `/${text}`,
	'a filter value': (text) => `?title=${text}`,
	'a value to begin with': (text) => `?title[startsWith]=${text}`,
	'a value of a list': (text) => `?title[in]=${text}`,
	'a number': (text) => `?rank=${text}`,
	'a float': (text) => `?ratio[gt]=${text}`,
	'a decimal': (text) => `?price[lte]=${text}`,
	'a day': (text) => `?day=${text}`,
	'a timestamp': (text) => `?at[lt]=${text}`,
	'a boolean': (text) => `?done=${text}`,
	'an id to filter by': (text) => `?id[between]=1,${text}`,
	'filter JSON': (text) => `?filter=${text}`,
	'a name in filter JSON': (text) => `?filter=%7B%22${text}%22%3A1%7D`,
	'an operator': (text) => `?title[${text}]=1`,
	'a search': (text) => `?search=${text}`,
	'a sort': (text) => `?sort=${text}`,
	'a descending sort': (text) => `?sort=-${text}`,
	'a selection': (text) => `?fields=${text}`,
	'a parameter': (text) => `?${text}=1`,
	'a limit': (text) => `?limit=${text}`,
	'an offset': (text) => `?offset=${text}`,
	'a count': (text) => `?count=${text}`,
	'a cursor': (text) => `?cursor=${text}`,
	'a cursor in its encoding': (text) =>
		`?cursor=${Buffer.from(JSON.stringify([decodeURIComponent(text), 1])).toString('base64url')}`,
}

/** Fails for an unexpected response. */
function inOrder({ status, text }: InjectedReply, place: string, given: string): void {
	const what = `${JSON.stringify(given.slice(0, 60))} as ${place}: ${status} ${text().slice(0, 300)}`
	assert.ok(status < 500, what)
	if (status < 400) return
	// The message names the place as the client did.
	const own = text().replaceAll(JSON.stringify(given.slice(0, 40)).slice(1, -1), '')
	if (!TELLTALE.test(given)) assert.not.match(own, TELLTALE, what)
}

const stores = await storesHere()

/** Suites over every store, with these strings; `prefix` names their tables. */
export function naughtyStrings(prefix: string, strings: readonly string[]): void {
	for (const name of stores) overStore(name, prefix, strings)
}

function overStore(name: (typeof stores)[number], prefix: string, strings: readonly string[]): void {
	describe(`naughty strings over ${name}`, (test) => {
		let store: Store
		let model: Model
		let asked: Asked
		test.before(async () => {
			store = await openStore(name, prefix)
			model = await store.emptied()
			asked = serve(model, { ...OPTIONS, maxLimit: 100, maxTextTerms: 100 })
			// A record that must survive; without a note, so that it isn't found by notes.
			for (const title of ['first', 'second']) await asked.ask(json('POST', '/things', { title }))
		})
		test.after(() => store.close())

		for (const [place, urlOf] of Object.entries(READS)) {
			test(`each gets an expected answer as ${place}`, async () => {
				const before = await allRows(model)
				await Promise.all(
					strings.map(async (text) => {
						const sent = encoded(text)
						if (sent !== undefined) inOrder(await asked.ask({ url: `/things${urlOf(sent)}` }), place, text)
					}),
				)
				assert.equal(await allRows(model), before)
			})
		}

		test('each text round-trips and is found by equality and by its parts, or is refused', async () => {
			const before = await allRows(model)
			assert.is(before.length, 2)
			for (const text of strings) await roundTrip(asked, text)
			assert.equal(await allRows(model), before)
		})

		test('as a field name, or as a value of another type, each is refused or stored', async () => {
			const before = await allRows(model)
			for (const text of strings) {
				for (const body of [
					{ title: 'x', [text]: 'y' },
					{ title: 'x', rank: text },
					{ title: 'x', day: text, at: text, ratio: text },
					{ title: 'x', status: text, code: text },
					{ title: 'x', extra: { [text]: text } },
				]) {
					// A computed `__proto__` is an ordinary key.
					const reply = await asked.ask(json('POST', '/things', body))
					inOrder(reply, 'a field', text)
					if (reply.status !== 201) continue
					const { data } = reply.json() as { data: Record<string, unknown> }
					if ('extra' in body) assert.equal(data.extra, body.extra)
					await asked.ask({ method: 'DELETE', url: String(reply.headers.location) })
				}
			}
			assert.equal(await allRows(model), before)
		})

		test('each gets an expected answer in a QUERY', async () => {
			for (const text of strings) {
				for (const body of [
					{ filter: { title: text } },
					{ filter: { [text]: 1 } },
					{ filter: { or: [{ note: { contains: text } }, { code: [text] }] } },
					{ filter: { rank: text } },
					{ sort: text },
					{ search: text },
					{ cursor: text },
					{ [text]: text },
				]) {
					inOrder(await asked.ask(json('QUERY', '/things', body)), JSON.stringify(Object.keys(body)[0]), text)
				}
			}
		})
	})
}

/** Stores a text, searches for it, and deletes it. */
async function roundTrip({ ask }: Asked, text: string): Promise<void> {
	const what = JSON.stringify(text.slice(0, 60))
	const reply = await ask(json('POST', '/things', { title: 'x', note: text }))
	const isStorable = !text.includes('\0') && encoded(text) !== undefined
	assert.is(reply.status, isStorable ? 201 : 422, what)
	inOrder(reply, 'a text', text)
	if (!isStorable) return
	const url = String(reply.headers.location)
	const read = await ask({ url })
	// The handler's own answers have this shape.
	assert.is((read.json() as { data: { note: string } }).data.note, text, what)

	/** The notes of matching records; `undefined` where the query is refused. */
	const look = async (asked: object, notes: readonly (string | null)[] | undefined) => {
		const found = await ask(json('QUERY', '/things', { ...asked, fields: 'note' }))
		const by = `${what} by ${JSON.stringify(asked).slice(0, 90)}: ${found.status}`
		assert.is(found.status, notes === undefined ? 400 : 200, by)
		inOrder(found, 'what is looked for', text)
		const data = notes?.map((note) => ({ note }))
		assert.equal((found.json() as { data?: unknown }).data, data, by)
	}
	const byNote = (condition: object, notes: readonly string[] | undefined) =>
		look({ filter: { note: condition } }, notes)
	const points = [...text]
	const whole = text.length > LONGEST_PART ? undefined : [text]
	await Promise.all([
		byNote({ eq: text }, [text]),
		byNote({ in: [text, 'b'] }, [text]),
		byNote({ startsWith: points.slice(0, 3).join('') }, [text]),
		byNote({ endsWith: points.slice(-3).join('') }, [text]),
		byNote({ contains: text }, whole),
		byNote({ startsWith: text }, whole),
		byNote({ endsWith: text }, whole),
		// As patterns, some would match more than themselves.
		byNote({ contains: `${text}~` }, text.length < LONGEST_PART ? [] : undefined),
		look({ search: text }, searched(text)),
	])
	assert.is((await ask({ method: 'DELETE', url })).status, 200)
}

/** The notes that a search for a text finds while it is stored; `undefined` where it is refused. */
function searched(text: string): (string | null)[] | undefined {
	const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
	if (words.length > MOST_WORDS || words.some(({ length }) => length > LONGEST_PART)) return undefined
	const records = [
		{ title: 'first', note: null },
		{ title: 'second', note: null },
		{ title: 'x', note: text },
	]
	const fits = records.filter(({ title, note }) =>
		// Titles are ASCII, whose case every database's search ignores.
		words.every((word) => title.includes(word.toLowerCase()) || note?.includes(word)),
	)
	return fits.map(({ note }) => note)
}
