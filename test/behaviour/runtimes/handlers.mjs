/** What is served everywhere: methods, streams, limits, a cache, and the records of a MemoryModel. */
import { CrudHandler, MemoryModel, RestHandler, remember } from 'verbena'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

class Api extends RestHandler {
	rateLimits = { get_counted: { limit: 3, windowSeconds: 60 } }

	get_hello(name = 'world') {
		return name
	}

	post_echo() {
		return this.getParams({ title: ['required', 'string'], tags: [{ of: ['string'] }] })
	}

	post_bytes() {
		return this.getRawPostData().length
	}

	async get_wait(ms) {
		await sleep(Number(ms))
		return Number(ms)
	}

	async *get_stream() {
		for (let id = 1; id <= 3; id++) {
			await sleep(20)
			yield { id }
		}
	}

	get_counted() {
		return 'counted'
	}

	get_once(key) {
		return remember(this.cache, key, 60, async () => {
			await sleep(50)
			return key
		})
	}
}

export function handlers() {
	const fields = { id: 'integer', text: { type: 'text', maxLength: 20 } }
	const notes = new CrudHandler(new MemoryModel('note', { fields, key: 'id' }), {
		visible: 'all',
		updatable: ['text'],
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	})
	return { '': new Api(), note: notes }
}
