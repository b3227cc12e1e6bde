import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { type Request, RestError, RestHandler } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

/** Waits for a time that varies from call to call, or not at all. */
async function rest(): Promise<void> {
	const time = Math.floor(Math.random() * 4)
	if (time > 0) await setTimeout(time)
}

const authenticator = {
	async authenticate(request: Request) {
		await rest()
		return { id: request.header('x-user') ?? '' }
	},
}

/** Sets all that can be set, waiting between steps, and answers what it then finds. */
class Busy extends RestHandler {
	private mark?: string
	private list: string[] | undefined = undefined
	override access = { '*': 'user' }

	async post_mark(id: string) {
		this.mark = id
		await rest()
		this.list = [id]
		this.status(200 + (Number(id) % 7))
		await rest()
		this.header('X-Mark', id)
		await rest()
		this.list.push(await this.deeper(id))
		await rest()
		if (Number(id) % 10 === 3) return this.error(`refused ${id}`, 409)
		if (Number(id) % 10 === 7) throw new RestError('gone', `gone ${id}`)
		const { a } = this.getParams({ a: ['string'] })
		return [this.mark, ...this.list, this.user?.id, this.query.q, a, this.params[0], this.request.id]
	}

	private async deeper(id: string) {
		await rest()
		this.user = { id: `${this.user?.id}+${id}` }
		return `${this.mark}/${id}`
	}
}

describe('answer: interleaved requests', (test) => {
	for (const [kind, handler] of [
		['an instance', new Busy()],
		['a factory', () => new Busy()],
	] as const) {
		test(`1,000 requests to ${kind} see nothing of each other`, async () => {
			const { ask, lines } = asking({ busy: handler }, { authenticator, requestId: 'x-request-id' })
			const all = Array.from({ length: 1_000 }, async (_, at) => {
				await rest()
				const id = String(at)
				const headers = { 'x-user': `u${id}`, 'x-request-id': `r${id}` }
				const {
					status,
					headers: sent,
					text,
				} = await ask(`POST /busy/mark/${id}?q=q${id}`, { headers, body: { a: `a${id}` } })
				return { at, status, mark: sent['x-mark'], requestId: sent['x-request-id'], text: text() }
			})
			for (const { at, status, mark, requestId, text } of await Promise.all(all)) {
				assert.is(requestId, `r${at}`)
				if (at % 10 === 3 || at % 10 === 7) {
					const [code, word] = at % 10 === 3 ? ['conflict', 'refused'] : ['gone', 'gone']
					assert.is(text, `{"success":false,"error":"${word} ${at}","code":"${code}","requestId":"r${at}"}`)
					assert.equal([status, mark], [at % 10 === 3 ? 409 : 410, undefined])
					continue
				}
				const data = [at, at, `${at}/${at}`, `u${at}+${at}`, `q${at}`, `a${at}`, at, `r${at}`].map(String)
				assert.equal([status, mark], [200 + (at % 7), String(at)])
				if (status !== 204 && status !== 205) assert.is(text, JSON.stringify({ success: true, data }))
			}
			assert.equal(lines, [])
		})
	}
})
