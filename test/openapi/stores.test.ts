/** What handlers over each of the stores answer to any requests, compared with what they say that they do. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { createServer, type Model, type Server } from '../../lib/index.ts'
import { sequence } from '../crud-over/any-request.ts'
import { openStores, type Store } from '../crud-over/stores.ts'
import { handlersOf, OPTIONS } from '../crud-over/things.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { ajv } from './ajv.ts'
import { Description } from './described.ts'
import { documentOf } from './tap.ts'

const RUNS = 30

/** Bounds are those of the columns: titles must have a character, ranks may be at most 100. */
const RULES = { title: [{ min: 1 }], rank: ['integer', { max: 100 }] } as const

function serve(model: Model): Server {
	const handlers = handlersOf(model, { ...OPTIONS, rules: RULES })
	return createServer(handlers, { openapi: true, logger: new Log() })
}

describe('answers of all stores', (test) => {
	let stores: readonly Store[] = []
	test.before(async () => {
		stores = await openStores('openapi')
	})
	test.after(async () => {
		for (const store of stores) await store.close()
	})

	test(`are as described, whatever is asked: ${RUNS} sequences in each`, async () => {
		for (const store of stores) {
			const description = new Description(await documentOf(serve(store.model)))
			const tally = { served: 0, refused: 0 }
			await fc.assert(
				fc.asyncProperty(sequence, async (steps) => {
					const server = serve(await store.emptied())
					const ids: string[] = []
					const withIds = (text: string) =>
						text.replaceAll(/"?\{\{(\d+)\}\}"?/g, (_, at) => ids[Number(at)] ?? '900000001')
					for (const { method, url, headers, body } of steps) {
						const target = withIds(url)
						const requestBody = body === undefined ? '' : withIds(body)
						const sent = requestBody === '' ? {} : { body: requestBody }
						const reply = await server.inject({ method, url: target, headers, ...sent })
						const { location, 'content-type': type } = reply.headers
						if (typeof location === 'string') ids.push(location.slice(location.lastIndexOf('/') + 1))
						tally[reply.status < 300 ? 'served' : 'refused']++
						const problems = description.problems({
							...{ method, target, status: reply.status, requestHeaders: headers, requestBody },
							...{ type: typeof type === 'string' ? type : undefined, body: reply.text() },
						})
						assert.equal(problems, [], `${store.name}: ${reply.text()}`)
					}
				}),
				{ numRuns: RUNS },
			)
			assert.ok(tally.served > RUNS && tally.refused > RUNS, JSON.stringify(tally))
		}
	})

	test('have descriptions alike, but for what their columns hold', async () => {
		const schemas = await Promise.all(
			stores.map(async ({ model }) => (await documentOf(serve(model))).components.schemas ?? {}),
		)
		for (const [at, all] of schemas.entries()) {
			const names = Object.keys(all).filter((name) => /^Crudover/.test(name))
			assert.is(names.length, 4, stores[at]?.name)
			for (const schema of names) ajv().compile({ $ref: `#/$defs/${schema}`, $defs: all })
		}
		const [first = {}] = schemas
		const fields = ({ ...all }: object) =>
			Object.entries(all)
				.filter(([name]) => /^Crudover/.test(name))
				.map(([, schema]) => Object.keys(Reflect.get(schema as object, 'properties') as object))
		for (const other of schemas) assert.equal(fields(other), fields(first))
	})
})
