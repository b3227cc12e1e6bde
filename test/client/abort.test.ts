import { getEventListeners } from 'node:events'
import * as assert from 'uvu/assert'
import { CrudClient } from '../../lib/client/index.ts'
import { unlessAborted } from '../../lib/client/send.ts'
import { describe } from '../helpers/describe.ts'
import { answering, json } from './answering.ts'

const reason = new Error('the user left')

describe('client: a wait with a signal', (test) => {
	test("ends with the signal's reason, whatever the work returns later", async () => {
		const controller = new AbortController()
		let fail: (error: Error) => void = () => {}
		const work = new Promise<string>((_resolve, reject) => {
			fail = reject
		})
		const wait = unlessAborted(work, controller.signal).catch((error: unknown) => error)
		controller.abort(reason)
		fail(new Error('too late'))
		assert.is(await wait, reason)
		assert.is(await unlessAborted('a', controller.signal).catch((error: unknown) => error), reason)
	})

	test('removes its listener, also when the work never ends', async () => {
		const controller = new AbortController()
		const endless = new Promise<never>(() => {})
		const wait = unlessAborted(endless, controller.signal).catch((error: unknown) => error)
		controller.abort(reason)
		assert.is(await wait, reason)
		await unlessAborted(endless, controller.signal).catch(() => {})
		assert.equal(getEventListeners(controller.signal, 'abort'), [])
	})

	test("otherwise returns the work's result, and removes its listener", async () => {
		const { signal } = new AbortController()
		assert.is(await unlessAborted('a', signal), 'a')
		assert.is(await unlessAborted(Promise.resolve('b'), undefined), 'b')
		assert.is(await unlessAborted(Promise.reject(reason), signal).catch((error: unknown) => error), reason)
		await new Promise((done) => setTimeout(done))
		assert.equal(getEventListeners(signal, 'abort'), [])
	})

	test('causes no listener warning when many calls share one signal', () =>
		answering(async (site) => {
			site.answer = json({ success: true, data: { id: 1 } })
			const warnings: string[] = []
			const listen = ({ message }: Error) => warnings.push(message)
			process.on('warning', listen)
			const { signal } = new AbortController()
			const articles = new CrudClient('article', site.origin, { sign: async (request) => request })
			await Promise.all(Array.from({ length: 30 }, () => articles.get(1, { signal })))
			await new Promise((done) => setTimeout(done, 20))
			process.off('warning', listen)
			assert.equal(warnings, [])
		}))
})
