/**
 * `examples/17-opentelemetry`, as people use it: copied, installed from its lock file, type-checked against
 * OpenTelemetry's own types, and sent requests; the spans are read from its console output.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { freePorts, ROOT, type Running, run, start, untilPrinted } from '../helpers/program.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

/** A span, as far as it is looked at. */
interface Span {
	readonly name: string
	readonly id: string
	readonly trace: string
	readonly parent: string | undefined
	readonly text: string
}

function spansOf(printed: string): Span[] {
	return printed
		.split(/^\{$/m)
		.slice(1)
		.map((text) => ({
			name: /^ {2}name: '(.*)'/m.exec(text)?.[1] ?? '',
			id: /^ {2}id: '(.*)'/m.exec(text)?.[1] ?? '',
			trace: /^ {2}traceId: '(.*)'/m.exec(text)?.[1] ?? '',
			parent: /^ {4}spanId: '(.*)'/m.exec(text)?.[1],
			text,
		}))
}

describe('examples/17-opentelemetry', (test) => {
	const copy = mkdtempSync(join(tmpdir(), 'verbena-opentelemetry-'))
	const folder = `${copy}/examples/17-opentelemetry`
	let program: Running | undefined
	let url = ''

	test.after(async () => {
		program?.child.kill('SIGKILL')
		await program?.ended
		rmSync(copy, { recursive: true, force: true })
	})

	/** Asks, and waits for as many spans more. */
	async function spans(
		count: number,
		headers: Record<string, string>,
		path = '/blog/article/5',
	): Promise<Span[]> {
		const before = spansOf(program?.output() ?? '').length
		const response = await fetch(`${url}${path}`, { headers })
		assert.is(response.headers.get('traceparent'), null)
		await response.text()
		const since = () => spansOf(program?.output() ?? '').slice(before)
		await until(() => since().filter(({ text }) => /^\}$/m.test(text)).length >= count, `${count} spans`)
		return since()
	}

	test('installs from its lock file', async () => {
		writeFileSync(`${copy}/package.json`, '{ "type": "module" }')
		cpSync(`${ROOT}/lib`, `${copy}/lib`, { recursive: true })
		cpSync(`${ROOT}/examples/17-opentelemetry`, folder, {
			recursive: true,
			filter: (source) => !source.includes('node_modules'),
		})
		const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
		const { code, output } = await run({ program: 'npm', args, cwd: folder })
		assert.is(code, 0, output)
	})

	test('compiles', async () => {
		const { output } = await run({ args: ['node_modules/typescript/bin/tsc', '--noEmit'], cwd: folder })
		assert.is(output, '')
	})

	test('starts', async () => {
		const [port = 0] = await freePorts(1)
		url = `http://127.0.0.1:${port}`
		program = start({ args: ['--import', 'tsx', 'main.ts'], cwd: folder, env: { PORT: String(port) } })
		await untilPrinted(program, `Listening at ${url}`)
	})

	test("a request is a span with the caller's as its parent, and the method's spans are its children", async () => {
		const [inner, outer] = await spans(2, { traceparent: `00-${TRACE}-${CALLER}-01` })
		assert.equal([outer?.name, outer?.trace, outer?.parent], ['GET /blog/article/{id}', TRACE, CALLER])
		assert.equal([inner?.name, inner?.trace, inner?.parent], ['find', TRACE, outer?.id])
		for (const said of ["'http.request.method': 'GET'", "'http.response.status_code': 200"])
			assert.match(outer?.text ?? '', said)
		assert.match(outer?.text ?? '', "'url.path': '/blog/article/5'")
		assert.match(outer?.text ?? '', "'http.route': '/blog/article/{id}'")
		assert.match(outer?.text ?? '', "'code.function.name': 'Blog.get_article'")
	})

	test("without a caller's trace, it is a root span", async () => {
		const [inner, outer] = await spans(2, {})
		assert.equal([outer?.name, outer?.parent], ['GET /blog/article/{id}', undefined])
		assert.is(inner?.trace, outer?.trace)
		assert.is.not(outer?.trace, TRACE)
	})

	test('a request without a handler is a span named by its method', async () => {
		const [span] = await spans(1, {}, '/nowhere?token=secret')
		assert.is(span?.name, 'GET')
		assert.match(span?.text ?? '', "'http.response.status_code': 404")
		assert.not.match(span?.text ?? '', 'secret')
	})

	test('concurrent requests have separate spans', async () => {
		const before = spansOf(program?.output() ?? '').length
		const ids = Array.from({ length: 20 }, (_, at) => (at + 1).toString(16).padStart(32, '0'))
		await Promise.all(
			ids.map((id) => fetch(`${url}/blog/article/1`, { headers: { traceparent: `00-${id}-${CALLER}-01` } })),
		)
		const since = () => spansOf(program?.output() ?? '').slice(before)
		await until(() => since().filter(({ text }) => /^\}$/m.test(text)).length >= 40, '40 spans')
		for (const id of ids) {
			const own = since().filter(({ trace }) => trace === id)
			const outer = own.find(({ name }) => name === 'GET /blog/article/{id}')
			const inner = own.find(({ name }) => name === 'find')
			assert.equal([own.length, outer?.parent, inner?.parent], [2, CALLER, outer?.id])
		}
	})

	test('a statement for several requests is a span with links to theirs, which have links to it', async () => {
		if (!(await driversHere()).includes('pg')) return
		writeFileSync(`${folder}/gathered.ts`, GATHERED)
		const { output } = await run({ args: ['--import', 'tsx', 'gathered.ts'], cwd: folder })
		const all = spansOf(output)
		const batch = all.find(({ name }) => name.startsWith('read verbena_spans_'))
		assert.ok(batch, output)
		assert.is(batch?.parent, undefined)
		const linked = (text = '') => [...text.matchAll(/^ {8}spanId: '(.*)'/gm)].map(([, id]) => id)
		const readers = linked(batch?.text)
		assert.ok(readers.length > 1, output)
		for (const id of readers) {
			const reader = all.find((span) => span.id === id)
			assert.is(reader?.name, 'GET /note/{id}')
			assert.ok(linked(reader?.text).includes(batch?.id), reader?.text)
		}
	})
})

/** Thirty requests at once for records of PostgreSQL. */
const GATHERED = `
import { context, trace } from '@opentelemetry/api'
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import pg from '${ROOT}/node_modules/pg/esm/index.mjs'
import { CrudHandler, createServer } from '../../lib/index.ts'
import { PostgresModel } from '../../lib/models/postgres/model.ts'
import { manager, traceRequests } from './tracing.ts'

trace.setGlobalTracerProvider(
	new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
)
context.setGlobalContextManager(manager)
traceRequests()
const pool = new pg.Pool(${JSON.stringify(SERVER)})
const table = 'verbena_spans_${process.pid}'
await pool.query('create table ' + table + ' (id integer primary key)')
await pool.query('insert into ' + table + ' select generate_series(1, 30)')
const model = await PostgresModel.open(pool, table)
const server = createServer({ note: new CrudHandler(model, { visible: 'all' }) }, { logRequests: false })
await Promise.all(Array.from({ length: 30 }, (_, at) => server.inject({ url: '/note/' + (at + 1) })))
await pool.query('drop table ' + table)
await pool.end()
`
