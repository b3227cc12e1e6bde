/** Concurrent requests: of two that can't both succeed, one does, over every store. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudValues, createServer, type Model } from '../../../lib/index.ts'
import type { Changes, Guard, Selection } from '../../../lib/models/index.ts'
import { describe } from '../../helpers/describe.ts'
import { Passing } from '../../testing/broken-models.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Asked, allRows, OPTIONS, serve } from './things.ts'

/** Holds each write until there are two: both requests have read the record by then. */
class Together extends Passing {
	readonly #waiting: (() => void)[] = []

	override async update(id: string, changes: Changes, selection: Selection, guard: Guard) {
		await this.#second()
		return super.update(id, changes, selection, guard)
	}

	override async delete(id: string, selection: Selection, guard: Guard) {
		await this.#second()
		return super.delete(id, selection, guard)
	}

	#second(): Promise<void> {
		return new Promise((resolve) => {
			this.#waiting.push(resolve)
			if (this.#waiting.length === 2) for (const go of this.#waiting.splice(0)) go()
		})
	}
}

const JSON_TYPE = { 'content-type': 'application/json' }

for (const name of await storesHere()) {
	describe(`races over ${name}`, (test) => {
		let store: Store
		let model: Model
		let asked: Asked
		test.before(async () => {
			store = await openStore(name, 'races', 8)
		})
		test.before.each(async () => {
			model = await store.emptied()
			asked = serve(model)
		})
		test.after(() => store.close())

		const write = (method: string, url: string, body: object, headers = {}) =>
			asked.ask({ method, url, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })
		/** The URL of a new record, and its first version. */
		const made = async (title: string): Promise<{ url: string; first: number }> => {
			const { headers } = await write('POST', '/things', { title })
			return { url: String(headers.location), first: Number(String(headers.etag).slice(1, -1)) }
		}

		test('of two PUTs with the same If-Match one is 200 and one 412, thirty times', async () => {
			const { url, first } = await made('0')
			for (let version = first; version < first + 30; version++) {
				const match = { 'if-match': `"${version}"` }
				const replies = await Promise.all([
					write('PUT', url, { title: `${version} a` }, match),
					write('PUT', url, { title: `${version} b` }, match),
				])
				assert.equal(replies.map(({ status }) => status).sort(), [200, 412])
				const winner = replies[0]?.status === 200 ? 'a' : 'b'
				const [row] = await allRows(model)
				assert.equal([row?.title, row?.version], [`${version} ${winner}`, version + 1])
			}
		})

		test('a record recreated under a deleted key has none of its former versions', async () => {
			const { url, first } = await made('old')
			const id = Number(url.split('/').at(-1))
			const tags = [first, first + 1].map((version) => `"${version}"`)
			assert.is((await write('PATCH', url, { rank: 1 })).status, 200)
			assert.is((await asked.ask({ method: 'DELETE', url })).status, 200)
			class Again extends CrudHandler {
				override create(values: CrudValues) {
					return super.create({ ...values, id })
				}
			}
			const again = createServer({ things: new Again(model, OPTIONS) })
			const reply = await again.inject({ method: 'POST', url: '/things', body: { title: 'new' } })
			assert.equal([reply.status, reply.headers.location], [201, url])
			assert.is.not(tags.includes(String(reply.headers.etag)), true)
			for (const tag of tags) {
				assert.is((await write('PUT', url, { title: 'lost' }, { 'if-match': tag })).status, 412)
				const known = await asked.ask({ method: 'GET', url, headers: { 'if-none-match': tag } })
				assert.is(known.status, 200)
			}
		})

		const matches = ['"V"', '"V", "x"', 'W/"V", "V"', '"V" ,"9999999"']
		for (const methods of [
			['PUT', 'PUT'],
			['PATCH', 'POST'],
			['PATCH', 'DELETE'],
		]) {
			test(`of ${methods.join(' and ')}, which have both read the version in If-Match, one succeeds`, async () => {
				const both = serve(new Together(model))
				for (const match of matches) {
					const { url, first: version } = await made('0')
					const headers = {
						...JSON_TYPE,
						'if-match': match.replaceAll('"V"', `"${version}"`),
					}
					const replies = await Promise.all(
						methods.map((method, at) =>
							both.ask({
								...{ method, url, headers },
								...(method === 'DELETE' ? {} : { body: JSON.stringify({ title: `${at}` }) }),
							}),
						),
					)
					const [first, second] = replies.map(({ status }) => status)
					const lost = methods.includes('DELETE') && second === 200 ? 404 : 412
					assert.equal([first, second].sort(), [200, lost], match)
				}
			})
		}

		test('of a PUT and a DELETE with the same If-Match one is 200', async () => {
			for (let round = 0; round < 20; round++) {
				const { url, first } = await made('x')
				const match = { 'if-match': `"${first}"` }
				const replies = await Promise.all([
					write('PATCH', url, { title: 'y' }, match),
					asked.ask({ method: 'DELETE', url, headers: match }),
				])
				const statuses = replies.map(({ status }) => status)
				assert.ok(['404,200', '200,412'].includes(statuses.join()), statuses.join())
			}
		})

		test('a PATCH answered 404 because of a concurrent DELETE has changed nothing', async () => {
			for (let round = 0; round < 60; round++) {
				const { url } = await made('x')
				const [changed, removed] = await Promise.all([
					write('PATCH', url, { title: 'y' }),
					asked.ask({ method: 'DELETE', url, headers: {} }),
				])
				assert.is(removed.status, 200)
				const { data } = removed.json() as { data: { title: string } }
				assert.equal([changed.status, data.title], changed.status === 404 ? [404, 'x'] : [200, 'y'])
			}
		})

		test('of concurrent creates with one unique value one is 201 and the others 409', async () => {
			for (let round = 0; round < 10; round++) {
				const code = `code ${round}`
				const replies = await Promise.all(
					Array.from({ length: 8 }, () => write('POST', '/things', { title: 'x', code })),
				)
				assert.equal(replies.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409])
				for (const reply of replies) {
					if (reply.status === 409)
						assert.is(
							reply.text(),
							'{"success":false,"error":"code is taken by another record","code":"conflict","details":[{"field":"code","code":"unique","message":"is taken by another record"}]}',
						)
				}
			}
			assert.is((await allRows(model)).length, 10)
		})

		test('concurrent updates without a condition all succeed, and each raises the version', async () => {
			const { url, first } = await made('x')
			const replies = await Promise.all(
				Array.from({ length: 20 }, (_, n) => write('PATCH', url, { rank: n })),
			)
			assert.equal(new Set(replies.map(({ status }) => status)), new Set([200]))
			const tags = replies.map(({ headers }) => Number(String(headers.etag).slice(1, -1)))
			for (const [at, reply] of replies.entries()) {
				// The parts of a record's answer.
				const { data } = reply.json() as { data: { version: number } }
				assert.is(data.version, tags[at])
			}
			const [row] = await allRows(model)
			assert.is(row?.version, first + 20)
			assert.equal(
				tags.sort((a, b) => a - b),
				Array.from({ length: 20 }, (_, n) => first + 1 + n),
			)
		})
	})
}
