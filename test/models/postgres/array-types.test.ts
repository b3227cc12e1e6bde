/** postgres.js fetches the server's array types with an unawaited query: how we prevent or await that. */
import { connect, createServer, type Socket } from 'node:net'
import postgres from 'postgres'
import * as assert from 'uvu/assert'
import type { Selection } from '../../../lib/models/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { withoutUnhandled } from '../../behaviour/faults/answers.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'

const TABLE = `pgad_types_${process.pid}`
const SELECTION: Selection = {
	fields: ['id', 'numbers', 'moods'],
	names: ['id', 'numbers', 'moods'],
	version: undefined,
}
const RECORD = '{"id":1,"numbers":[1,2],"moods":["fine","so, so"]}'

/** A proxy to the server that cuts a connection as soon as it asks for array types, while `isLossy`. */
async function lineToServer() {
	const { host, port } = SERVER
	const sockets = new Set<Socket>()
	const state = { isLossy: false, asked: 0, port: 0, lose, close }
	const server = createServer((client) => {
		const far = connect(port, host)
		far.pipe(client)
		client
			.on('data', (data) => {
				const asks = data.includes('typarray')
				if (asks) state.asked++
				if (asks && state.isLossy) client.destroy()
				else far.write(data)
			})
			.on('close', () => far.destroy())
		far.on('close', () => client.destroy())
		for (const socket of [client, far]) socket.on('error', () => {})
		sockets.add(client)
	})
	function lose(): void {
		for (const socket of sockets) socket.destroy()
		sockets.clear()
	}
	function close(): void {
		lose()
		server.close()
	}
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	const address = server.address()
	if (typeof address === 'object' && address !== null) state.port = address.port
	return state
}

if ((await driversHere()).includes('postgres.js'))
	describe('array types of postgres.js', (test) => {
		const admin = postgres({ ...SERVER, max: 1, onnotice: () => {} })

		test.before(async () => {
			await admin.unsafe(`drop table if exists ${TABLE}; drop type if exists ${TABLE}_mood;
				create type ${TABLE}_mood as enum ('fine', 'so, so');
				create table ${TABLE} (id int primary key, numbers int[], moods ${TABLE}_mood[]);
				insert into ${TABLE} values (1, '{1,2}', '{fine,"so, so"}')`)
		})
		test.after(async () => {
			await admin.unsafe(`drop table ${TABLE}; drop type ${TABLE}_mood`)
			await admin.end()
		})

		for (const prepare of [true, false])
			test(`aren't fetched by new connections, prepare: ${prepare}: a lost query would end the process`, async () => {
				const line = await lineToServer()
				const sql = postgres({ ...SERVER, port: line.port, max: 3, prepare, idle_timeout: 0 })
				try {
					const model = await PostgresModel.open(sql, TABLE)
					assert.is(line.asked, 1)
					line.isLossy = true
					await withoutUnhandled(async () => {
						line.lose()
						const read = () => model.read('1', SELECTION, undefined).catch(() => undefined)
						await until(async () => {
							const found = await Promise.all(Array.from({ length: 6 }, read))
							return found.every((one) => one?.json === RECORD)
						}, 'all are answered')
					})
					assert.is(line.asked, 1)
				} finally {
					await sql.end({ timeout: 1 })
					line.close()
				}
			})

		test('are known to other queries on the same sql, on every connection', async () => {
			const sql = postgres({ ...SERVER, max: 3 })
			try {
				await PostgresModel.open(sql, TABLE)
				const ask = async (pause: number) => {
					const [row] = await sql`
						select pg_backend_pid() as pid, numbers, moods, pg_sleep(${pause}) from ${sql(TABLE)}
						where numbers = ${[1, 2]} and moods = ${['fine', 'so, so']}`
					return row
				}
				const rows = await Promise.all([0.1, 0.1, 0.1].map(ask))
				assert.is(new Set(rows.map((row) => row?.pid)).size, 3)
				for (const row of rows)
					assert.equal(
						[row?.numbers, row?.moods],
						[
							[1, 2],
							['fine', 'so, so'],
						],
					)
			} finally {
				await sql.end({ timeout: 1 })
			}
		})

		test('created afterwards are read and written by a model', async () => {
			const sql = postgres({ ...SERVER, max: 2, onnotice: () => {} })
			try {
				await PostgresModel.open(sql, TABLE)
				await sql.unsafe(`create type ${TABLE}_late as enum ('a', 'b, c');
					create table ${TABLE}_late_table (id int primary key, moods ${TABLE}_late[])`)
				const model = await PostgresModel.open(sql, `${TABLE}_late_table`)
				const selection = { fields: ['id', 'moods'], names: ['id', 'moods'], version: undefined }
				const moods = { id: 1, moods: ['b, c', 'a'] }
				await model.create({ id: 1, moods: new RawJson(JSON.stringify(moods.moods)) }, selection)
				assert.equal(JSON.parse((await model.read('1', selection, undefined))?.json ?? ''), moods)
			} finally {
				await sql.unsafe(`drop table if exists ${TABLE}_late_table; drop type if exists ${TABLE}_late`)
				await sql.end({ timeout: 1 })
			}
		})

		test("aren't fetched where the user has turned that off", async () => {
			const line = await lineToServer()
			const sql = postgres({ ...SERVER, port: line.port, max: 1, fetch_types: false })
			try {
				const model = await PostgresModel.open(sql, TABLE)
				assert.is((await model.read('1', SELECTION, undefined))?.json, RECORD)
				assert.is(line.asked, 0)
			} finally {
				await sql.end({ timeout: 1 })
				line.close()
			}
		})
	})
