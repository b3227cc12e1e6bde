/** A page of 100 records of 20 kB each arrives whole, over a socket, from every store. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { openStore, storesHere } from './stores.ts'
import { handlersOf, OPTIONS } from './things.ts'

const SELECTION = { fields: ['id'], names: ['id'], version: undefined }
/** 20 kB of bytes that JSON escapes, of two and of four. */
const note = (n: number) => `${n} "quoted" \\ \n\u2028 é 😀 `.repeat(800)

for (const name of await storesHere()) {
	describe(`big lists over ${name}`, (test) => {
		test('100 records of 20 kB are complete, valid JSON', async () => {
			const store = await openStore(name, 'big')
			try {
				for (let n = 0; n < 100; n++) await store.model.create({ title: `t${n}`, note: note(n) }, SELECTION)
				await listening(handlersOf(store.model, { ...OPTIONS, maxLimit: 100 }), {}, async ({ url }) => {
					const response = await fetch(`${url}/things?limit=100&count=exact`)
					const text = await response.text()
					assert.is(response.status, 200)
					assert.ok(Buffer.byteLength(note(1)) >= 20_000)
					assert.ok(Buffer.byteLength(text) > 2_000_000)
					// The handler's own list has this shape.
					const { data, meta } = JSON.parse(text) as { data: { title: string; note: string }[]; meta: object }
					assert.equal(meta, { limit: 100, offset: 0, next: null, total: 100 })
					assert.is(data.length, 100)
					for (const [n, record] of data.entries()) {
						assert.is(record.title, `t${n}`)
						assert.ok(record.note === note(n))
					}
				})
			} finally {
				await store.close()
			}
		})
	})
}
