/** Statements that have timed out or were aborted: their backends stop. */
import { createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { cancel } from '../../../lib/models/postgres/pg/cancel.ts'
import { selfSigned } from '../../helpers/certificate.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { databaseLater, driversHere, openDatabase, SERVER, untilOpened } from '../../helpers/postgres.ts'
import { inTimesOf } from '../../helpers/stalls.ts'
import { assertGivenUp, holdingLock, SELECTION, TABLE } from './given-up.ts'

if ((await driversHere()).includes('pg'))
	describe('cancelled statements of pg', (test) => {
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

		for (const name of ['pg', 'postgres.js'] as const)
			test(`repeated writes by ${name} that time out on a lock leave no backend, and are not executed later`, () =>
				inTimesOf(500, async (time) => {
					await (await opened()).exec(`update ${TABLE} set a = 1`)
					const settings = { application_name: `${TABLE}_${name}` }
					const { database, close } = await openDatabase(name, settings, { max: 3 })
					await holdingLock(async (waiting, unlock) => {
						const patient = await PostgresModel.open(database, TABLE, { timeoutSeconds: 30 })
						const model = await untilOpened(() =>
							PostgresModel.open(database, TABLE, { timeoutSeconds: time / 1_000 }),
						)
						for (let round = 0; round < 3; round++) {
							await assertGivenUp(model)
							await until(async () => (await waiting()) === 0, 'no backend is at work')
						}
						await unlock()
						assert.is(
							(await patient.read('1', SELECTION, undefined))?.json.replaceAll(' ', ''),
							'{"id":1,"a":2}',
						)
					}).finally(close)
				}))

		test('a create that completes as query_timeout expires is outcome_unknown, and its connection is free again', async () => {
			const { exec } = await opened()
			await exec(`create or replace function ${TABLE}_slow() returns trigger language plpgsql as
				'begin perform pg_sleep(case when new.id = 7 then 60 else 0 end); return new; end';
				create or replace trigger slow before insert on ${TABLE} for each row execute function ${TABLE}_slow()`)
			const pool = new pg.Pool({ ...SERVER, max: 1, query_timeout: 300, application_name: `${TABLE}_late` })
			try {
				const model = await untilOpened(() => PostgresModel.open(pool, TABLE, { timeoutSeconds: 30 }))
				const told = async (work: Promise<unknown>) => {
					const answer = await work.catch((error: unknown) => error)
					return answer instanceof ModelError ? answer.kind : answer
				}
				assert.is(await told(model.create({ id: 7 }, SELECTION)), 'outcome_unknown')
				// On the only connection: it is released long before 5 s, when the server has ended the statement.
				await until(async () => (await told(model.count(undefined))) === 1, 'the connection is free')
			} finally {
				await pool.end()
				await exec(`drop trigger slow on ${TABLE}; drop function ${TABLE}_slow`)
			}
		})

		test('the cancel connection is closed by the server, not by us', async () => {
			const heard: string[] = []
			const server = createServer({ allowHalfOpen: true }, (socket) => {
				socket.on('data', () => {
					heard.push('request')
					setTimeout(() => {
						heard.push('dealt with')
						socket.end()
					}, 100)
				})
				socket.on('end', () => heard.push('left'))
			})
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
			const address = server.address()
			const port = typeof address === 'object' ? address?.port : undefined
			try {
				cancel({ host: '127.0.0.1', port, processID: 7, secretKey: 4_000_000_000 })
				await until(() => heard.includes('left'), 'the client leaves')
				assert.equal(heard, ['request', 'dealt with', 'left'])
			} finally {
				server.close()
			}
		})

		test('over TLS the cancel request is encrypted', async () => {
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
			const client = { host: '127.0.0.1', port, processID: 7, secretKey: -5 }
			try {
				cancel({ ...client, ssl: { rejectUnauthorized: false } })
				await until(() => heard.length > 0, 'the request to cancel')
				assert.is(heard[0]?.toString('hex'), '0000001004d2162e00000007fffffffb')
			} finally {
				server.close()
			}
		})

		test('where the server has no TLS no cancel request is sent in plain text', async () => {
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
			const client = { host: '127.0.0.1', port, processID: 7, secretKey: -5 }
			try {
				cancel({ ...client, ssl: { rejectUnauthorized: false } })
				await until(() => heard.length > 0, 'the request for TLS')
				assert.is(heard[0]?.toString('hex'), '0000000804d2162f')
				cancel(client)
				await until(() => heard.length > 1, 'the request to cancel')
				assert.is(heard[1]?.toString('hex'), '0000001004d2162e00000007fffffffb')
				// An unknown kind of client.
				cancel({ ...client, secretKey: undefined })
				cancel({ ...client, port: undefined })
				await new Promise((resolve) => setTimeout(resolve, 50))
				assert.is(heard.length, 2)
			} finally {
				server.close()
			}
		})
	})
