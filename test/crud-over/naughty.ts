/**
 * Strings that break what was not made for them, at every place where a client can put one, over every store: each
 * comes back as it was sent, or is refused with 4xx, and the table is as it was.
 */
import * as assert from 'uvu/assert'
import type { InjectedReply, InjectedRequest, Model } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Asked, allRows, OPTIONS, serve } from './things.ts'

/** Words by which a driver, a database or this machine would show itself. */
const TELLTALE =
	/sqlite|postgres|mariadb|mysql|syntax|SQLSTATE|ER_[A-Z]{3}|22P0\d|select .* from|crudover|collation|node_modules|\.ts:\d/i

/** JSON as a client would have it that knows nothing better: lone surrogates as escapes. */
function json(method: string, url: string, body: unknown): InjectedRequest {
	return { method, url, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** Percent-encoded; `undefined` for what has no UTF-8. */
function encoded(text: string): string | undefined {
	try {
		return encodeURIComponent(text)
	} catch {
		return undefined
	}
}

/** The places where a text can stand in a request that reads. */
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

/** Fails for an answer that isn't in order. */
function inOrder({ status, text }: InjectedReply, place: string, given: string): void {
	const what = `${JSON.stringify(given.slice(0, 60))} as ${place}: ${status} ${text().slice(0, 300)}`
	assert.ok(status < 500, what)
	if (status < 400) return
	// A place is named as the client has named it.
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
			asked = serve(model, { ...OPTIONS, maxLimit: 100 })
			// Something to lose; without a note, so that what is looked for by its note is found alone.
			for (const title of ['first', 'second']) await asked.ask(json('POST', '/things', { title }))
		})
		test.after(() => store.close())

		for (const [place, urlOf] of Object.entries(READS)) {
			test(`as ${place} each is answered in order`, async () => {
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

		test('as a text each comes back, is found by itself, and by parts of it, or is refused', async () => {
			const before = await allRows(model)
			assert.is(before.length, 2)
			for (const text of strings) await roundTrip(asked, text)
			assert.equal(await allRows(model), before)
		})

		test('as a name or as a value of another type in a body each is refused or stored', async () => {
			const before = await allRows(model)
			for (const text of strings) {
				for (const body of [
					{ title: 'x', [text]: 'y' },
					{ title: 'x', rank: text },
					{ title: 'x', day: text, at: text, ratio: text },
					{ title: 'x', status: text, code: text },
					{ title: 'x', extra: { [text]: text } },
				]) {
					// A computed `__proto__` is a name like any other.
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

		test('in a QUERY each is answered in order', async () => {
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

/** Stores a text, looks for it, and takes it away. */
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
	const points = [...text]
	const wholes = [
		{ eq: text },
		{ in: [text, 'b'] },
		{ contains: text },
		{ startsWith: text },
		{ endsWith: text },
	]
	const parts = [{ startsWith: points.slice(0, 3).join('') }, { endsWith: points.slice(-3).join('') }]
	const searches = [...wholes, ...parts].map(async (condition) => {
		const found = await ask(json('QUERY', '/things', { filter: { note: condition }, fields: 'note' }))
		const by = `${what} by ${JSON.stringify(condition).slice(0, 90)}: ${found.status}`
		assert.equal((found.json() as { data: unknown }).data, [{ note: text }], by)
	})
	await Promise.all(searches)
	// Taken as a pattern, some would match more than themselves.
	const other = await ask(json('QUERY', '/things', { filter: { note: { contains: `${text}~` } } }))
	assert.equal((other.json() as { data: unknown }).data, [], what)
	assert.is((await ask({ method: 'DELETE', url })).status, 200)
}
