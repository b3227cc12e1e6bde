/** The metrics page of a server with real stores, scraped by a real Prometheus; and the queries of the example's dashboard. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, RestHandler, type Server } from '../../lib/index.ts'
import { MysqlModel } from '../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../lib/models/postgres/model.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { mariadbIsHere, openPool } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { freePorts, ROOT, type Running, start, untilPrinted } from '../helpers/program.ts'

const TABLE = `metrics_${process.pid}`
const TOKEN = 'the-token-of-prometheus'

/** Whether Prometheus is installed; otherwise that is said aloud, and with `CI=true` it is a failure. */
function prometheusIsHere(): boolean {
	try {
		for (const program of ['prometheus', 'promtool'])
			execFileSync(program, ['--version'], { stdio: 'ignore' })
		return true
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there is no prometheus here: ${String(error)}`)
		return false
	}
}

class Slow extends RestHandler {
	async get_stream() {
		return (async function* () {
			yield 'a'
		})()
	}
}

/** The values of a page, by name and labels. */
async function page(server: Server, accept = '*/*'): Promise<string> {
	const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept }
	return (await server.inject({ url: '/metrics', headers })).text()
}

function sampleOf(text: string, name: string): number {
	const line = text.split('\n').find((one) => one.startsWith(`${name} `))
	assert.ok(line, `${name} in ${text}`)
	return Number(line?.split(' ').at(-1))
}

/** The output of promtool, which is empty if all is well. */
function checked(text: string): Promise<string> {
	return new Promise((resolve) => {
		const child = execFile('promtool', ['check', 'metrics'], (error, stdout, stderr) =>
			resolve(`${error?.message ?? ''}${stdout}${stderr}`),
		)
		child.stdin?.end(text)
	})
}

const isHere = prometheusIsHere() && (await driversHere()).includes('pg') && (await mariadbIsHere())

describe('metrics and Prometheus', (test) => {
	if (!isHere) return
	const folder = mkdtempSync(join(tmpdir(), 'verbena-prometheus-'))
	const postgres = new pg.Pool({ ...SERVER, max: 2 })
	const mariadb = openPool({}, { connectionLimit: 3 })
	const everywhere = [(text: string) => postgres.query(text), (text: string) => mariadb.query(text)]
	let server: Server
	let url = ''
	let prometheus: Running | undefined
	let api = ''

	/** The samples that Prometheus has for an expression. */
	async function query(
		expression: string,
	): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
		const response = await fetch(`${api}/query?query=${encodeURIComponent(expression)}`)
		const { status, data, error } = (await response.json()) as {
			status: string
			error?: string
			data?: { result: { metric: Record<string, string>; value: [number, string] }[] }
		}
		assert.is(status, 'success', `${expression}: ${error}`)
		return data?.result ?? []
	}

	test.before(async () => {
		for (const run of everywhere) {
			await run(`create table ${TABLE} (id integer primary key, title varchar(20))`)
			await run(`insert into ${TABLE} values (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')`)
		}
		const notes = new CrudHandler(await PostgresModel.open(postgres, TABLE), { visible: 'all' })
		const again = new CrudHandler(await PostgresModel.open(postgres, TABLE), { visible: 'all' })
		const others = new CrudHandler(await MysqlModel.open(mariadb, TABLE), { visible: 'all' })
		const handlers = { note: notes, again, other: others, slow: new Slow() }
		server = createServer(handlers, { metrics: { token: TOKEN }, logRequests: false })
		url = (await server.listen()).url
	})

	test.after(async () => {
		prometheus?.child.kill('SIGKILL')
		await prometheus?.ended
		await server.close()
		for (const run of everywhere) await run(`drop table ${TABLE}`)
		await Promise.all([postgres.end(), mariadb.end()])
		rmSync(folder, { recursive: true, force: true })
	})

	test('reads that were gathered are more than their statements', async () => {
		const ids = Array.from({ length: 80 }, (_, at) => (at % 4) + 1)
		const paths = ids.flatMap((id) => [`/note/${id}`, `/other/${id}`])
		const statuses = await Promise.all(paths.map(async (path) => (await server.inject({ url: path })).status))
		assert.equal([...new Set(statuses)], [200])
		const text = await page(server)
		assert.is(sampleOf(text, 'verbena_record_reads_total'), 160)
		const statements = sampleOf(text, 'verbena_record_read_statements_total')
		assert.ok(statements >= 2 && statements < 80, `${statements} statements`)
	})

	test('a pool that is exhausted has requests that wait, counted for all models over it', async () => {
		const held = await Promise.all([postgres.connect(), postgres.connect()])
		const heldByOthers = await mariadb.getConnection()
		const waiting = ['/note', '/again', '/note'].map((path) => server.inject({ url: path }))
		const isSeen = async () => sampleOf(await page(server), 'verbena_pool_waiting{pool="postgresql"}') === 3
		await until(isSeen, 'three wait')
		const text = await page(server)
		const table: [string, number][] = [
			['verbena_pool_in_use{pool="postgresql"}', 2],
			['verbena_pool_max{pool="postgresql"}', 2],
			['verbena_pool_waiting{pool="mysql"}', 0],
			['verbena_pool_in_use{pool="mysql"}', 1],
			['verbena_pool_max{pool="mysql"}', 3],
			['http_server_active_requests', 3],
		]
		for (const [name, value] of table) assert.is(sampleOf(text, name), value, name)
		for (const client of held) client.release()
		heldByOthers.release()
		assert.equal(
			(await Promise.all(waiting)).map(({ status }) => status),
			[200, 200, 200],
		)
		assert.is(sampleOf(await page(server), 'verbena_pool_waiting{pool="postgresql"}'), 0)
	})

	test('promtool has nothing to say against the page', async () => {
		for (const path of ['/note/77', '/slow/stream', '/nowhere']) await (await fetch(url + path)).text()
		assert.is(await checked(await page(server)), '')
		// It would: for a counter without _total, for one.
		assert.match(await checked('# HELP a_count b\n# TYPE a_count counter\na_count 1\n'), 'should')
	})

	test('Prometheus scrapes it, in OpenMetrics', async () => {
		const [port = 0] = await freePorts(1)
		api = `http://127.0.0.1:${port}/api/v1`
		const target = new URL(url).host
		const config = `scrape_configs:
- job_name: verbena
  scrape_interval: 1s
  authorization: { credentials: ${TOKEN} }
  static_configs: [{ targets: ['${target}'] }]
`
		const file = join(folder, 'prometheus.yml')
		writeFileSync(file, config)
		const args = [
			`--config.file=${file}`,
			`--storage.tsdb.path=${folder}/data`,
			`--web.listen-address=127.0.0.1:${port}`,
		]
		prometheus = start({ program: 'prometheus', args, cwd: folder })
		await untilPrinted(prometheus, 'Server is ready')
		await until(async () => (await query('up'))[0]?.value[1] === '1', 'it is up', 60_000)
		const [found] = await query('http_server_request_duration_seconds_count{route="/note/{id}",status="404"}')
		assert.equal([found?.metric.method, found?.metric.instance, found?.value[1]], ['GET', target, '1'])
		// The metadata of OpenMetrics: a counter is named without `_total`, and has a unit.
		const metadata = (await (await fetch(`${api}/metadata`)).json()) as {
			data: Record<string, { unit: string }[]>
		}
		assert.is(metadata.data.process_cpu_seconds?.[0]?.unit, 'seconds')
	})

	test("each expression of the example's dashboard has values", async () => {
		const text = readFileSync(`${ROOT}/examples/19-metrics/dashboard.json`, 'utf8')
		const { panels } = JSON.parse(text) as { panels: { title: string; targets: { expr: string }[] }[] }
		// Rates need two scrapes, with requests before both.
		const traffic = async () => {
			for (const path of ['/note/1', '/other/2', '/nowhere']) await (await fetch(url + path)).text()
		}
		for (const { title, targets } of panels)
			for (const { expr } of targets) {
				const expression = expr.replaceAll('$job', 'verbena').replaceAll('$__rate_interval', '30s')
				const hasValues = async () => {
					await traffic()
					await setTimeout(200)
					const found = await query(expression)
					return found.some(({ value }) => value[1] !== 'NaN')
				}
				await until(hasValues, `${title}: ${expression}`, 60_000)
			}
	})
})
