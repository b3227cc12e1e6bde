/** Checks the tables of docs/runtimes.md on where the published package works. Jest's settings are those of the page. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { driversHere, openDatabase, SERVER } from '../../helpers/postgres.ts'
import { freePorts, ROOT, run } from '../../helpers/program.ts'
import { rowsOf } from '../../helpers/tables.ts'
import { PAGE, published, ROWS, type Row, sources } from './rows.ts'
import { project, startWorker } from './tools.ts'

const COLUMNS = ['import', 'server', 'inject', 'client', 'models']
const YES = '✓'
const NO = '–'
const TABLE = `runtimes_${randomUUID().replaceAll('-', '')}`

/** As TypeScript's users set it: `module`, and `moduleResolution` if that isn't implied. */
const MODES: readonly (readonly [name: string, file: string, options: Readonly<Record<string, string>>])[] = [
	['`nodenext`, ES module', 'all.mts', { module: 'nodenext' }],
	['`nodenext`, CommonJS', 'all.cts', { module: 'nodenext' }],
	['`node16`, CommonJS', 'all.cts', { module: 'node16' }],
	['`esnext`, `bundler`', 'all.ts', { module: 'esnext', moduleResolution: 'bundler' }],
	['`commonjs`, `node10`', 'all.ts', { module: 'commonjs', moduleResolution: 'node10' }],
]

/** Does all of `jobs`, two at a time, which keeps this machine's cores busy. */
async function inTwos<T, R>(jobs: readonly T[], work: (job: T) => Promise<R>): Promise<R[]> {
	const waiting = [...jobs.entries()]
	const done: R[] = []
	const lane = async () => {
		for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
			done[next[0]] = await work(next[1])
	}
	await Promise.all([lane(), lane()])
	return done
}

/** What failed in rows where something did, for the message of a table that differs. */
const failures: string[] = []

function folderOf(at: string, name: string, files: Readonly<Record<string, string>>): string {
	const folder = join(at, 'rows', name.replaceAll(/\W+/g, '-'))
	mkdirSync(folder, { recursive: true })
	for (const [file, code] of Object.entries(files)) writeFileSync(join(folder, file), code)
	return folder
}

async function measured(row: Row, env: Record<string, string>): Promise<string[]> {
	const at = await project()
	const manifest = JSON.stringify({ private: true, type: row.type })
	const folder = folderOf(at, row.name, { ...row.files, 'package.json': manifest })
	const command = await row.command((name) => join(at, 'node_modules', name))
	const OUT = join(folder, 'out.json')
	const { output } = await run({ ...command, cwd: folder, env: { ...env, ...command.env, OUT } })
	if (!existsSync(OUT)) return failed(row.name, output)
	return cells(row.name, JSON.parse(readFileSync(OUT, 'utf8')) as Record<string, string>)
}

function failed(name: string, output: string): string[] {
	failures.push(`${name}:\n${output.slice(0, 3_000)}`)
	return [name, ...COLUMNS.map(() => NO)]
}

function cells(name: string, works: Readonly<Record<string, string>>): string[] {
	if (Object.values(works).some(Boolean)) failures.push(`${name}: ${JSON.stringify(works)}`)
	return [name, ...COLUMNS.map((column) => (works[column] === '' ? YES : NO))]
}

async function measuredInWorker(): Promise<string[]> {
	const at = await project()
	const worker = `import { probe } from './probe.mjs'
		export default { fetch: async () => Response.json(await probe({ listens: false })) }`
	const folder = folderOf(at, 'workerd', { ...sources('mjs'), 'worker.mjs': worker })
	const [port = 0] = await freePorts(1)
	const program = await startWorker(folder, port)
	try {
		let works: Record<string, string> | undefined
		await until(async () => {
			assert.is(program.child.exitCode, null, program.output())
			const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined)
			if (response !== undefined) works = (await response.json()) as Record<string, string>
			return works !== undefined
		}, 'an answer of workerd')
		const row = cells('workerd', works ?? {})
		// It has no ports and no pools: the package has `fetch` and `MemoryModel` there.
		return row.map((cell, at) => (cell === YES ? ({ 2: '`fetch`', 5: '`MemoryModel`' }[at] ?? cell) : cell))
	} finally {
		program.child.kill('SIGKILL')
		await program.ended
	}
}

/** Whether a program that uses every subpath compiles. */
async function compiles(name: string, version: string, tsc: string): Promise<string> {
	const [, file = '', options = {}] = MODES.find(([mode]) => mode === name) ?? []
	const at = await project()
	const folder = folderOf(at, `${name} ${version}`, { [file]: published('probe.ts') })
	// `package.long.ts` compiles the declarations too, which takes three times as long.
	const own = {
		strict: true,
		target: 'es2022',
		lib: ['es2022'],
		types: ['node'],
		noEmit: true,
		skipLibCheck: true,
	}
	const compilerOptions = { ...own, ...options }
	writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
	const { output } = await run({ args: [join(tsc, 'bin/tsc'), '-p', folder], cwd: folder })
	if (output !== '') failures.push(`TypeScript ${version}, ${name}:\n${output.slice(0, 1_000)}`)
	return output === '' ? YES : NO
}

function shown(rows: readonly (readonly string[])[]): string {
	return rows.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The page's table as it is, for comparison with what was measured. */
function written(heading: string): string {
	return shown(rowsOf(PAGE, heading))
}

describe('runtimes: the tables of docs/runtimes.md', (test) => {
	test('each runtime and test runner does what the page says', async () => {
		const hasPostgres = (await driversHere()).includes('pg')
		const admin = await openDatabase(hasPostgres ? 'pg' : 'PGlite')
		await admin.exec(`create table ${TABLE} (id serial primary key, text text)`)
		const env: Record<string, string> = hasPostgres
			? { DATABASE: JSON.stringify({ ...SERVER, max: 1 }), TABLE }
			: {}
		try {
			const rows = await inTwos([...ROWS, undefined], (row) =>
				row === undefined ? measuredInWorker() : measured(row, env),
			)
			const found = shown(rows.map((row) => row.map((cell) => cell.replaceAll('`', ''))))
			assert.is(
				found,
				written('## Runtimes and test runners'),
				`${failures.join('\n')}\nmeasured:\n${shown(rows)}`,
			)
		} finally {
			await admin.exec(`drop table ${TABLE}`)
			await admin.close()
		}
	})

	test('each version of TypeScript compiles in the modes that the page says', async () => {
		const at = await project()
		const versions: readonly (readonly [string, string])[] = [
			['5.4', `${at}/node_modules/typescript-5.4`],
			['5.9', `${at}/node_modules/typescript`],
			['7.0', `${ROOT}/node_modules/typescript`],
		]
		const jobs = MODES.flatMap(([name]) => versions.map((version) => [name, ...version] as const))
		const results = await inTwos(jobs, (job) => compiles(...job))
		const rows = MODES.map(([name], mode) => [
			name,
			...versions.map((_, at) => results[mode * versions.length + at] ?? NO),
		])
		const found = shown(rows.map((row) => row.map((cell) => cell.replaceAll('`', ''))))
		assert.is(found, written('## TypeScript'), `${failures.join('\n')}\nmeasured:\n${shown(rows)}`)
	})
})
