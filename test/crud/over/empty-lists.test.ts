/** Empty pages over every store, whatever fields are selected. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Ask, serve, VISIBLE } from './things.ts'

for (const name of await storesHere()) {
	describe(`empty lists over ${name}`, (test) => {
		let store: Store
		let ask: Ask
		test.before(async () => {
			store = await openStore(name, 'empty')
			ask = serve(await store.emptied()).ask
		})
		test.after(() => store.close())

		for (const query of ['', '&title=b', '&offset=200', '&sort=-ratio,title']) {
			test(`filtering by each field gives no records, counted or not, with ${query || 'nothing more'}`, async () => {
				for (const field of VISIBLE) {
					const counted = await ask({ url: `/things?fields=${field}&count=exact${query}` })
					const offset = query === '&offset=200' ? 200 : 0
					assert.is(
						counted.text(),
						`{"success":true,"data":[],"meta":{"limit":3,"offset":${offset},"next":null,"total":0}}`,
						field,
					)
					const uncounted = await ask({ url: `/things?fields=${field}${query}` })
					assert.is(
						uncounted.text(),
						`{"success":true,"data":[],"meta":{"limit":3,"offset":${offset},"next":null}}`,
						field,
					)
				}
			})
		}
	})
}
