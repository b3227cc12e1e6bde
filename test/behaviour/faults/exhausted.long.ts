/** Exhausted connection pools and unresponsive database servers, as clients see them over HTTP. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { MARIADB, mariadbIsHere, openPool } from '../../helpers/mariadb.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { freePorts } from '../../helpers/program.ts'
import { inTimesOf, stopwatch } from '../../helpers/stalls.ts'
import { ask, assertUnavailable, withoutUnhandled } from './answers.ts'

/** The models' timeout in ms; retried with longer ones when this process stalls. */
const TIMEOUT = 700
/** Twice that would mean waiting twice. Stalls of this process are excluded. */
const LONGEST = 1_300

/** A pool with one connection, a model over it, and another user of the connection. */
interface Exhaustible {
	readonly model: Model
	/** Takes the connection; resolves with a function that releases it. */
	hold(): Promise<() => void>
	/** The length of the driver's own queue; `undefined` where it can't be read. */
	queued(): number | undefined
	close(): Promise<unknown>
}

interface Case {
	readonly name: string
	/** Of its table. */
	readonly columns: string
	/** Creates and drops the table. */
	exec(text: string): Promise<unknown>
	/** Opens a table with the record `{ id: 1, title: 'first' }`, through any host and port. */
	open(place?: { host: string; port: number }, timeout?: number): Promise<Exhaustible>
}

const TABLE = `faults_exhausted_${process.pid}`

/** Creates the table before the suite, and drops it afterwards. */
function withTable(test: Test, { exec, columns }: Case): void {
	test.before(async () => {
		await exec(`create table ${TABLE} (${columns})`)
		await exec(`insert into ${TABLE} (title) values ('first')`)
	})
	test.after(async () => {
		await exec(`drop table ${TABLE}`)
	})
}

/** Opens databases that are closed after the suite, even after a failed test: otherwise the run would not end. */
function openedFor(test: Test, one: Case): (...place: Parameters<Case['open']>) => Promise<Exhaustible> {
	const ends: (() => unknown)[] = []
	test.after(async () => {
		for (const end of ends.reverse()) await end()
	})
	return async (...place) => {
		const opened = await one.open(...place)
		ends.push(opened.close)
		const hold = async () => {
			let release: (() => void) | undefined = await opened.hold()
			const once = () => {
				release?.()
				release = undefined
			}
			ends.push(once)
			return once
		}
		return { ...opened, hold }
	}
}

async function onPostgres(text: string): Promise<void> {
	const client = new pg.Client(SERVER)
	await client.connect()
	await client.query(text)
	await client.end()
}

async function onMariadb(text: string): Promise<void> {
	const pool = openPool()
	await pool.query(text)
	await pool.end()
}

const PG: Case = {
	name: 'pg',
	columns: 'id serial primary key, title varchar(50) not null',
	exec: onPostgres,
	async open(place = SERVER, timeout = TIMEOUT) {
		const pool = new pg.Pool({ ...SERVER, ...place, max: 1 })
		const model = await PostgresModel.open(pool, TABLE, { timeoutSeconds: timeout / 1_000 })
		const hold = async () => {
			const client = await pool.connect()
			return () => client.release()
		}
		return { model, hold, queued: () => pool.waitingCount, close: () => pool.end() }
	},
}

const POSTGRES_JS: Case = {
	name: 'postgres.js',
	columns: 'id serial primary key, title varchar(50) not null',
	exec: onPostgres,
	async open(place = SERVER, timeout = TIMEOUT) {
		const sql = postgres({ ...SERVER, ...place, max: 1, onnotice: () => {} })
		const model = await PostgresModel.open(sql, TABLE, { timeoutSeconds: timeout / 1_000 })
		const hold = async () => {
			const reserved = await sql.reserve()
			return () => reserved.release()
		}
		return { model, hold, queued: () => undefined, close: () => sql.end({ timeout: 1 }) }
	},
}

const MYSQL2: Case = {
	name: 'mysql2',
	columns: 'id int auto_increment primary key, title varchar(50) not null',
	exec: onMariadb,
	async open(place = MARIADB, timeout = TIMEOUT) {
		const pool = mysql.createPool({ ...MARIADB, ...place, connectionLimit: 1 })
		const model = await MysqlModel.open(pool, TABLE, { timeoutSeconds: timeout / 1_000 })
		const hold = async () => {
			const connection = await pool.getConnection()
			return () => connection.release()
		}
		// mysql2's wait queue is internal, and not in its types.
		const { length } = Reflect.get(pool.pool, '_connectionQueue') as { length: number }
		assert.is(length, 0)
		const queued = () => (Reflect.get(pool.pool, '_connectionQueue') as { length: number }).length
		return { model, hold, queued, close: () => pool.end() }
	},
}

function handlerOf(model: Model): CrudHandler {
	return new CrudHandler(model, {
		visible: ['id', 'title'],
		updatable: ['title'],
		allow: ['list', 'read', 'create', 'update', 'remove'],
	})
}

const everything = (url: string) => [
	ask(`${url}/1`),
	ask(`${url}/2`),
	ask(`${url}?limit=1`),
	ask(`${url}?limit=0&count=exact`),
	ask(url, 'POST', { title: 'never' }),
	ask(`${url}/1`, 'PATCH', { title: 'never' }),
	ask(`${url}/1`, 'DELETE'),
]

function exhausted(one: Case): void {
	const { name } = one
	describe(`${name} with its only connection held by another client`, (test) => {
		withTable(test, one)
		const open = openedFor(test, one)
		test('every request is answered 503 in time, and no refused write is executed later', () =>
			inTimesOf(TIMEOUT, (time) =>
				withoutUnhandled(async () => {
					const { model, hold } = await open(undefined, time)
					await listening({ article: handlerOf(model) }, {}, async ({ url }) => {
						const site = `${url.replace(/\/$/, '')}/article`
						const release = await hold()
						for (const answer of await Promise.all(everything(site))) {
							// Nothing was sent, so no outcome is unknown.
							assertUnavailable(answer, /^unavailable$/)
							const most = LONGEST * (time / TIMEOUT)
							assert.ok(answer.milliseconds < most, `it took ${answer.milliseconds} ms`)
						}
						release()
						await setTimeout(100)
						const { status, body } = await ask(site)
						assert.is(status, 200)
						assert.equal(body.data, [{ id: 1, title: 'first' }])
					})
				}),
			))

		test('requests still waiting when the connection is released are answered correctly', () =>
			inTimesOf(TIMEOUT, async (time) => {
				const { model, hold } = await open(undefined, time)
				await listening({ article: handlerOf(model) }, {}, async ({ url }) => {
					const site = `${url.replace(/\/$/, '')}/article`
					const release = await hold()
					const reads = Array.from({ length: 50 }, () => ask(`${site}/1`))
					const lists = Array.from({ length: 50 }, () => ask(site))
					await setTimeout(150)
					release()
					for (const { body } of await Promise.all(reads)) assert.equal(body.data, { id: 1, title: 'first' })
					for (const { body } of await Promise.all(lists))
						assert.equal(body.data, [{ id: 1, title: 'first' }])
				})
			}))

		test('answered requests leave the wait queue, however many arrive', () =>
			inTimesOf(TIMEOUT, async (time) => {
				const { model, hold, queued } = await open(undefined, time)
				const release = await hold()
				let refused = 0
				const refuse = () => void refused++
				const rounds = 3
				const most: number[] = []
				for (let round = 0; round < rounds; round++) {
					const asked = Array.from({ length: 40 }, () => model.count(undefined).catch(refuse))
					await Promise.all(asked)
					most.push(queued() ?? 0)
				}
				assert.is(refused, rounds * 40)
				// Forty are sent at a time, so the queue must not hold a hundred and twenty.
				assert.ok(Math.max(...most) <= 40, `in the queue: ${most.join(', ')}`)
				release()
				await until(() => (queued() ?? 0) === 0, 'an empty queue')
				assert.is(await model.count(undefined), 1)
			}))
	})
}

/** A proxy in front of a real server, which can be made to hang or to refuse connections. */
class Gate {
	readonly #target: { readonly host: string; readonly port: number }
	readonly #sockets = new Set<Socket>()
	#server: Server | undefined
	port = 0
	#isSilent = false

	constructor(target: { readonly host: string; readonly port: number }) {
		this.#target = target
	}

	async open(): Promise<void> {
		this.#isSilent = false
		if (this.port === 0) [this.port = 0] = await freePorts(1)
		this.#server = createServer((socket) => this.#accept(socket)).listen(this.port, '127.0.0.1')
		await once(this.#server, 'listening')
	}

	/** Cuts all connections. */
	drop(): void {
		for (const socket of this.#sockets) socket.destroy()
	}

	/** Accepts connections and data, and sends nothing. */
	silence(): void {
		this.#isSilent = true
	}

	/** Refuses connections from now on. */
	close(): void {
		this.#server?.close()
		this.drop()
	}

	#accept(socket: Socket): void {
		this.#keep(socket)
		if (this.#isSilent) {
			socket.resume()
			return
		}
		const { host, port } = this.#target
		const behind = connect(port, host)
		this.#keep(behind)
		socket.on('data', (bytes) => void (this.#isSilent || behind.write(bytes)))
		behind.on('data', (bytes) => void (this.#isSilent || socket.write(bytes)))
		socket.on('close', () => behind.destroy())
		behind.on('close', () => socket.destroy())
	}

	#keep(socket: Socket): void {
		this.#sockets.add(socket)
		socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
	}
}

function unreachable(one: Case, target: { host: string; port: number }): void {
	const { name } = one
	describe(`${name}: faults of the server`, (test) => {
		withTable(test, one)
		const open = openedFor(test, one)
		const faults: readonly [name: string, begin: (gate: Gate) => void, end: (gate: Gate) => unknown][] = [
			['refuses connections', (gate) => gate.close(), (gate) => gate.open()],
			['says nothing on the connections it has', (gate) => gate.silence(), afresh],
			[
				'takes connections and says nothing',
				(gate) => {
					gate.silence()
					gate.drop()
				},
				afresh,
			],
		]
		for (const [fault, begin, end] of faults) {
			test(`${fault}: 503 in time, and requests succeed again afterwards`, () =>
				inTimesOf(TIMEOUT, (time) =>
					withoutUnhandled(async () => {
						const gate = new Gate(target)
						await gate.open()
						try {
							const { model } = await open({ host: '127.0.0.1', port: gate.port }, time)
							await listening({ article: handlerOf(model) }, {}, async ({ url }) => {
								const site = `${url.replace(/\/$/, '')}/article`
								assert.is((await ask(`${site}/1`)).status, 200)
								begin(gate)
								await setTimeout(20)
								const answers = await Promise.all(everything(site))
								for (const [at, answer] of answers.entries()) {
									assertUnavailable(answer, at < 4 ? /^unavailable$/ : undefined)
									const most = LONGEST * (time / TIMEOUT)
									assert.ok(answer.milliseconds < most, `it took ${answer.milliseconds} ms`)
								}
								await end(gate)
								const took = stopwatch()
								await until(async () => (await ask(`${site}/1`)).status === 200, 'service')
								assert.ok(took() < 5_000)
								assert.equal((await ask(site)).body.data, [{ id: 1, title: 'first' }])
							})
						} finally {
							// Nothing else closes it: the run would not end.
							gate.close()
						}
					}),
				))
		}
	})
}

async function afresh(gate: Gate): Promise<void> {
	gate.close()
	await gate.open()
}

const isPostgresHere = (await driversHere()).includes('pg')
const isMariadbHere = await mariadbIsHere()

if (isPostgresHere) {
	for (const one of [PG, POSTGRES_JS]) {
		exhausted(one)
		unreachable(one, SERVER)
	}
}
if (isMariadbHere) {
	exhausted(MYSQL2)
	unreachable(MYSQL2, MARIADB)
}
