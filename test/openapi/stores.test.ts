/** Responses of handlers over each store to random requests, compared with their description. */
import fc from 'fast-check'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type Model, type Server } from '../../lib/index.ts'
import { MysqlModel } from '../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../lib/models/postgres/model.ts'
import { sequence } from '../crud/over/any-request.ts'
import { openStores, type Store, storesHere } from '../crud/over/stores.ts'
import { handlersOf, OPTIONS } from '../crud/over/things.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { openPool } from '../helpers/mariadb.ts'
import { SERVER } from '../helpers/postgres.ts'
import { trials } from '../helpers/trials.ts'
import { ajv } from './ajv.ts'
import { Description } from './described.ts'
import { documentOf } from './tap.ts'

const RUNS = trials(4)

/** Bounds are those of the columns: titles must have a character, ranks may be at most 100. */
const RULES = { title: [{ min: 1 }], rank: ['integer', { max: 100 }] } as const

function serve(model: Model): Server {
	const handlers = handlersOf(model, { ...OPTIONS, rules: RULES })
	return createServer(handlers, { openapi: true, logger: new Log() })
}

describe('responses over all stores', (test) => {
	let stores: readonly Store[] = []
	test.before(async () => {
		stores = await openStores('openapi')
	})
	test.after(async () => {
		for (const store of stores) await store.close()
	})

	test(`match their description, for any request: ${RUNS} sequences each`, async () => {
		const all = { served: 0, refused: 0 }
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
			// Most requests of a few sequences may be refused, by chance: see below for all.
			assert.ok(tally.served >= RUNS / 4 && tally.refused >= RUNS / 4, JSON.stringify(tally))
			all.served += tally.served
			all.refused += tally.refused
		}
		const least = RUNS * stores.length
		assert.ok(all.served > least && all.refused > least, JSON.stringify(all))
	})

	test('have equal descriptions, except for column types', async () => {
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

/** What columns hold besides days, times and numbers: the fields of each record, and how its table is made. */
const BESIDES = {
	postgres: {
		columns: 'day date, at timestamptz, plain timestamp(0), clock time, price numeric, cost numeric(8, 2)',
		records: [
			{ day: '2026-11-20', at: '2026-11-20T10:00:00.000Z', clock: '10:00:00', price: '1.50', cost: '1.50' },
			{
				day: 'infinity',
				at: 'infinity',
				plain: '-infinity',
				clock: '24:00:00',
				price: 'Infinity',
				cost: 'NaN',
			},
			{ day: '0044-03-15 BC', at: '0044-03-15T12:00:00.000Z BC', plain: '0001-01-01T00:00:00.000Z BC' },
			{ day: '10000-01-01', at: '10000-01-01T00:00:00.000Z', price: 'NaN' },
			{ day: null, at: null, plain: null, clock: null, price: null, cost: null },
		],
	},
	mariadb: {
		columns: 'day date, at datetime(3), plain timestamp null, clock time, price decimal(8, 2)',
		records: [
			{ day: '2026-11-20', at: '2026-11-20T10:00:00.000Z', clock: '10:00:00', price: '1.50' },
			{
				day: '0000-00-00',
				at: '0000-00-00T00:00:00.000Z',
				plain: '0000-00-00T00:00:00.000Z',
				clock: '-838:59:59',
			},
			{ day: '2026-00-00', at: '2026-11-00T10:00:00.000Z', clock: '100:00:00' },
			{ day: null, at: null, plain: null, clock: null, price: null },
		],
	},
}

async function withBesides(name: keyof typeof BESIDES, use: (model: Model) => Promise<void>): Promise<void> {
	const table = `besides_${process.pid}`
	const { columns } = BESIDES[name]
	if (name === 'postgres') {
		const pool = new pg.Pool(SERVER)
		await pool.query(`create table ${table} (id serial primary key, ${columns})`)
		try {
			await use(await PostgresModel.open(pool, table))
		} finally {
			await pool.query(`drop table ${table}`)
			await pool.end()
		}
		return
	}
	const pool = openPool({ sql_mode: '' })
	await pool.query(`create table ${table} (id int auto_increment primary key, ${columns})`)
	try {
		await use(await MysqlModel.open(pool, table))
	} finally {
		await pool.query(`drop table ${table}`)
		await pool.end()
	}
}

describe('column types other than dates, times and numbers', (test) => {
	let here: readonly string[] = []
	test.before(async () => {
		here = await storesHere()
	})

	for (const name of ['postgres', 'mariadb'] as const)
		test(`are described as answered, written and filtered: ${name}`, async () => {
			if (!here.includes(name)) return
			await withBesides(name, async (model) => {
				const updatable = model.fields.map((field) => field.name).filter((one) => one !== 'id')
				const allow = ['list', 'create', 'totals'] as const
				const totals = { of: ['price'] }
				const handler = new CrudHandler(model, { visible: 'all', updatable, allow, totals })
				const server = createServer({ thing: handler }, { openapi: true })
				const description = new Description(await documentOf(server))
				const seen = async (method: string, url: string, requestBody = '') => {
					const requestHeaders = requestBody === '' ? {} : { 'content-type': 'application/json' }
					const sent = requestBody === '' ? {} : { body: requestBody, headers: requestHeaders }
					const reply = await server.inject({ method, url, ...sent })
					const { status, headers } = reply
					assert.ok(status < 300, `${url} ${requestBody}: ${reply.text()}`)
					const type = String(headers['content-type'])
					const traffic = {
						method,
						target: url,
						status,
						requestHeaders,
						requestBody,
						type,
						body: reply.text(),
					}
					assert.equal(description.problems(traffic), [], requestBody)
					return reply.json() as { data: { id: number }[] }
				}
				const list = description.operationOf({ method: 'GET', target: '/thing', requestHeaders: {} })
				const parameters = (list?.parameters ?? []).map((one) => description.resolved(one))
				for (const record of BESIDES[name].records) {
					await seen('POST', '/thing', JSON.stringify(record))
					for (const [field, value] of Object.entries(record)) {
						if (value === null) continue
						const { data } = await seen('GET', `/thing?${field}=${encodeURIComponent(value)}`)
						assert.is(data.length, 1, value)
						const { schema } = parameters.find((one) => one.name === field) ?? {}
						assert.ok(ajv().validate(schema ?? false, value), `${field}=${value}`)
						assert.not.ok(ajv().validate(schema ?? true, 'soon'), field)
					}
				}
				assert.is((await seen('GET', '/thing')).data.length, BESIDES[name].records.length)
				await seen('GET', '/thing/totals?sum=price&avg=price&min=price')
			})
		})
})
