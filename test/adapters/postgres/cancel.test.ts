/** Statements that nobody waits for any more: their backends don't go on. */
import { createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { cancel } from '../../../lib/adapters/postgres/pg-cancel.ts'
import { PostgresModel } from '../../../lib/adapters/postgres.ts'
import { ModelError } from '../../../lib/crud/model-error.ts'
import { selfSigned } from '../../helpers/certificate.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { databaseLater, driversHere, SERVER, untilOpened } from '../../helpers/postgres.ts'
import { inTimesOf } from '../../helpers/stalls.ts'

const TABLE = 'pgad_cancel'
const FREE = { where: undefined, version: undefined }
const SELECTION = { fields: ['id', 'a'], names: ['id', 'a'], version: undefined }

if ((await driversHere()).includes('pg'))
	describe('statements given up by pg', (test) => {
		const opened = databaseLater('pg', {}, {})

		test.before(async () =>
			(await opened()).exec(
				`drop table if exists ${TABLE}; create table ${TABLE} (id int primary key, a int); insert into ${TABLE} values (1, 1)`,
			),
		)
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(`drop table ${TABLE}`)
			await close()
		})

		// Each round makes its connections anew: one that isn't had in time is unavailable.
		test('rounds of changes that wait for a lock leave no backend behind, and are not made later', () =>
			inTimesOf(500, async (time) => {
				await (await opened()).exec(`update ${TABLE} set a = 1`)
				const holder = new pg.Client(SERVER)
				await holder.connect()
				// Within a transaction `pg_stat_activity` is always the same: so another one looks.
				const observer = new pg.Client(SERVER)
				await observer.connect()
				const pool = new pg.Pool({ ...SERVER, max: 3, application_name: TABLE })
				const waiting = async () => {
					const { rows } = await observer.query(
						`select count(*)::int as n from pg_stat_activity where application_name = '${TABLE}' and state = 'active'`,
					)
					return rows[0].n
				}
				try {
					const patient = await PostgresModel.open(pool, TABLE, { timeoutSeconds: 30 })
					const model = await untilOpened(() =>
						PostgresModel.open(pool, TABLE, { timeoutSeconds: time / 1_000 }),
					)
					await holder.query(`begin; update ${TABLE} set a = 2 where id = 1`)
					for (let round = 0; round < 3; round++) {
						const failures = await Promise.all(
							[3, 4, 5].map((a) =>
								model.update('1', { a }, SELECTION, FREE).catch((error: unknown) => error),
							),
						)
						for (const error of failures)
							assert.is(error instanceof ModelError ? error.kind : error, 'outcome_unknown')
						await until(async () => (await waiting()) === 0, 'no backend is at work')
					}
					await holder.query('commit')
					assert.is(
						(await patient.read('1', SELECTION, undefined))?.json.replaceAll(' ', ''),
						'{"id":1,"a":2}',
					)
				} finally {
					await holder.end()
					await observer.end()
					await pool.end()
				}
			}))

		test('over TLS the request is sent within it', async () => {
			const heard: Buffer[] = []
			const server = createServer((socket) => {
				socket.once('data', (asked) => {
					assert.is(asked.toString('hex'), '0000000804d2162f')
					socket.write('S')
					new TLSSocket(socket, { isServer: true, ...selfSigned() }).on('data', (bytes) => heard.push(bytes))
				})
			})
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
			const address = server.address()
			const port = typeof address === 'object' ? address?.port : undefined
			const client = {
				host: '127.0.0.1',
				port,
				processID: 7,
				secretKey: -5,
				query() {},
				on() {},
				removeListener() {},
			}
			try {
				cancel({ ...client, ssl: { rejectUnauthorized: false } })
				await until(() => heard.length > 0, 'the request to cancel')
				assert.is(heard[0]?.toString('hex'), '0000001004d2162e00000007fffffffb')
			} finally {
				server.close()
			}
		})

		test('where the server has no TLS nothing is sent to it', async () => {
			const heard: Buffer[] = []
			const server = createServer((socket) => {
				socket.on('data', (bytes) => {
					heard.push(bytes)
					socket.write('N')
				})
			})
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
			const address = server.address()
			const port = typeof address === 'object' ? address?.port : undefined
			const client = {
				host: '127.0.0.1',
				port,
				processID: 7,
				secretKey: -5,
				query() {},
				on() {},
				removeListener() {},
			}
			try {
				cancel({ ...client, ssl: { rejectUnauthorized: false } })
				await until(() => heard.length > 0, 'the request for TLS')
				assert.is(heard[0]?.toString('hex'), '0000000804d2162f')
				cancel(client)
				await until(() => heard.length > 1, 'the request to cancel')
				assert.is(heard[1]?.toString('hex'), '0000001004d2162e00000007fffffffb')
				// Of a client of another kind nothing is known.
				cancel({ ...client, secretKey: undefined })
				cancel({ ...client, port: undefined })
				await new Promise((resolve) => setTimeout(resolve, 50))
				assert.is(heard.length, 2)
			} finally {
				server.close()
			}
		})
	})
