/** Requests at once: of two that can't both win, one does, over every store. */
import * as assert from 'uvu/assert'
import type { Model } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Asked, allRows, serve } from './things.ts'

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
		const made = async (title: string) => String((await write('POST', '/things', { title })).headers.location)

		test('of two PUTs with the same If-Match one is 200 and one 412, a hundred times', async () => {
			const url = await made('0')
			for (let version = 1; version <= 100; version++) {
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

		test('of a PUT and a DELETE with the same If-Match one is 200', async () => {
			for (let round = 0; round < 20; round++) {
				const url = await made('x')
				const match = { 'if-match': '"1"' }
				const replies = await Promise.all([
					write('PATCH', url, { title: 'y' }, match),
					asked.ask({ method: 'DELETE', url, headers: match }),
				])
				const statuses = replies.map(({ status }) => status)
				assert.ok(['404,200', '200,412'].includes(statuses.join()), statuses.join())
			}
		})

		test('a PATCH that a DELETE at once answers 404 to has changed nothing', async () => {
			for (let round = 0; round < 60; round++) {
				const url = await made('x')
				const [changed, removed] = await Promise.all([
					write('PATCH', url, { title: 'y' }),
					asked.ask({ method: 'DELETE', url, headers: {} }),
				])
				assert.is(removed.status, 200)
				const { data } = removed.json() as { data: { title: string } }
				assert.equal([changed.status, data.title], changed.status === 404 ? [404, 'x'] : [200, 'y'])
			}
		})

		test('of concurrent creates of one unique value one is 201 and the others 409', async () => {
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

		test('changes at once without a condition all count, and each raises the version', async () => {
			const url = await made('x')
			const replies = await Promise.all(
				Array.from({ length: 20 }, (_, n) => write('PATCH', url, { rank: n })),
			)
			assert.equal(new Set(replies.map(({ status }) => status)), new Set([200]))
			const tags = replies.map(({ headers }) => Number(String(headers.etag).slice(1, -1)))
			for (const [at, reply] of replies.entries()) {
				// What a record's answer is made of.
				const { data } = reply.json() as { data: { version: number } }
				assert.is(data.version, tags[at])
			}
			const [row] = await allRows(model)
			assert.is(row?.version, 21)
			assert.equal(
				tags.sort((a, b) => a - b),
				Array.from({ length: 20 }, (_, n) => n + 2),
			)
		})
	})
}
