/** What is published is tried: packed, installed into an empty project, compiled there, and run. */
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { describe } from './helpers/describe.ts'
import { freePorts, ROOT, run, start, untilPrinted } from './helpers/program.ts'
import { elsewhere, replay } from './helpers/session.ts'

interface Manifest {
	readonly version: string
	readonly exports: Readonly<Record<string, string>>
	readonly dependencies?: object
	readonly peerDependencies?: object
	readonly optionalDependencies?: object
}

const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as Manifest
const subpaths = Object.keys(manifest.exports).map((path) => path.replace('.', 'verbena'))
const modules = subpaths.filter((path) => !path.endsWith('.json'))

const COMMONJS = `
const { createServer, RestHandler } = require('verbena')
class Hello extends RestHandler { get_hello() { return 'from CommonJS' } }
createServer({ '': new Hello() }).inject({ url: '/hello' }).then((reply) => console.log(reply.text()))
`

const STRICT = {
	compilerOptions: {
		...{ strict: true, module: 'nodenext', target: 'es2023', skipLibCheck: false, types: ['node'] },
		...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, outDir: 'out', rootDir: '.' },
	},
	include: ['*.ts'],
}

/** The first program of the README, and the session that follows it. */
function readme(): { code: string; session: string } {
	const text = readFileSync(`${ROOT}/README.md`, 'utf8')
	const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? []
	const [, session = ''] = /^```console\n([\s\S]*?)^```$/m.exec(text) ?? []
	return { code, session }
}

/** Packs a copy of the repository, so that its own `dist/` is left alone; answers the tarball. */
async function pack(folder: string): Promise<string> {
	const copy = join(folder, 'copy')
	mkdirSync(copy)
	for (const name of readdirSync(ROOT)) {
		if (name.startsWith('.') || ['node_modules', 'dist', 'coverage'].includes(name)) continue
		cpSync(`${ROOT}/${name}`, `${copy}/${name}`, {
			recursive: true,
			filter: (source) => basename(source) !== 'node_modules',
		})
	}
	symlinkSync(`${ROOT}/node_modules`, `${copy}/node_modules`, 'dir')
	const { code, output } = await npm(copy, 'pack', '--pack-destination', folder)
	assert.is(code, 0, output)
	return `verbena-${manifest.version}.tgz`
}

/** An empty project into which the tarball is installed. */
async function install(folder: string, tarball: string): Promise<string> {
	const project = join(folder, 'project')
	mkdirSync(project)
	writeFileSync(`${project}/package.json`, '{ "name": "empty", "private": true, "type": "module" }')
	const { code, output } = await npm(
		project,
		'install',
		'--offline',
		'--no-audit',
		'--no-fund',
		`../${tarball}`,
	)
	assert.is(code, 0, output)
	mkdirSync(`${project}/node_modules/@types`)
	for (const name of ['@types/node', 'undici-types']) {
		symlinkSync(`${ROOT}/node_modules/${name}`, `${project}/node_modules/${name}`, 'dir')
	}
	return project
}

/** `npm`, by the Node that runs the tests. */
function npm(cwd: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
	return run({
		program: 'npm',
		args: [...args, '--loglevel=error'],
		cwd,
		env: { npm_config_dry_run: 'false' },
	})
}

function below(folder: string): string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

describe('package', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-package-'))
	let project = ''
	let installed = ''

	test.before(async () => {
		project = await install(folder, await pack(folder))
		installed = `${project}/node_modules/verbena`
	})

	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('holds what is needed, and nothing else', () => {
		const top = readdirSync(installed).sort()
		assert.equal(top, ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'lib', 'package.json'])
		const sources = below(`${ROOT}/lib`).sort()
		assert.equal(below(`${installed}/lib`).sort(), sources)
		// The page of the explorer is a program for browsers, and stands in a text of `assets.ts`.
		const described = sources.filter((name) => !name.startsWith('explorer/page/'))
		const types = described.flatMap((name) =>
			['.d.ts', '.d.ts.map'].map((ending) => name.replace(/\.ts$/, ending)),
		)
		const built = below(`${installed}/dist`)
		assert.equal(built.filter((name) => /\.d\.ts(?:\.map)?$/.test(name)).sort(), types.sort())
		// A file a subpath, and what they share: each file more is a piece of every program's start.
		const code = built.filter((name) => name.endsWith('.js'))
		const entries = code.filter((name) => !name.startsWith('chunk-'))
		const databases = ['mysql', 'postgres', 'redis', 'sqlite']
		const adapters = databases.map((name) => `adapters/${name}.js`)
		const clients = ['client/crud.js', 'client/index.js']
		assert.equal(entries.sort(), [...adapters, ...clients, 'index.js', 'testing/index.js'])
		const page = gzipSync(readFileSync(`${installed}/dist/client/crud.js`)).length
		assert.ok(page < 6_000, `CrudClient is ${page} bytes for a page that loads it as it is`)
		assert.ok(code.length - entries.length <= 6, `${code.length - entries.length} shared files`)
		assert.is(built.length, types.length + 2 * code.length)
	})

	test('depends on nothing', () => {
		assert.equal(
			[manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies],
			[undefined, undefined, undefined],
		)
		const neighbours = readdirSync(`${project}/node_modules`).filter((name) => !name.startsWith('.'))
		assert.equal(neighbours.sort(), ['@types', 'undici-types', 'verbena'])
	})

	test('every subpath can be imported, and required', async () => {
		const load = `
			for (const path of ${JSON.stringify(subpaths)}) {
				const options = path.endsWith('.json') ? { with: { type: 'json' } } : {}
				const names = Object.keys(await import(path, options))
				console.log(path, names.length > 0)
			}`
		const imported = await run({ args: ['--no-warnings', '--input-type=module', '-e', load], cwd: project })
		assert.is(imported.output, subpaths.map((path) => `${path} true\n`).join(''))
		const require = `for (const path of ${JSON.stringify(modules)}) console.log(path, Object.keys(require(path)).length > 0)`
		const required = await run({ args: ['--input-type=commonjs', '-e', require], cwd: project })
		assert.is(required.output, modules.map((path) => `${path} true\n`).join(''))
	})

	test('classes are called as they are exported, for the sake of logs and messages', async () => {
		const load = `
			for (const path of ${JSON.stringify(modules)}) {
				for (const [name, value] of Object.entries(await import(path))) {
					if (/^class\\b/.test(String(value)) && value.name !== name) console.log(path, name, 'is', value.name)
				}
			}`
		const { output } = await run({ args: ['--input-type=module', '-e', load], cwd: project })
		// Those of clients are made short, but for what is shown when it is thrown.
		const others = output.split('\n').filter((line) => !/^verbena\/client\S* CrudClient is /.test(line))
		assert.equal(others, [''])
	})

	test('nothing else in it can', async () => {
		const { output } = await run({
			args: ['--input-type=module', '-e', "await import('verbena/dist/server.js')"],
			cwd: project,
		})
		assert.match(output, 'ERR_PACKAGE_PATH_NOT_EXPORTED')
	})

	test('serves CommonJS programs', async () => {
		writeFileSync(`${project}/required.cjs`, COMMONJS)
		const { output } = await run({ args: ['required.cjs'], cwd: project })
		assert.is(output, '{"success":true,"data":"from CommonJS"}\n')
	})

	test("the README's first program compiles strictly, from ES modules and CommonJS, and runs", async () => {
		const [port = 0] = await freePorts(1)
		const { code, session } = readme()
		writeFileSync(`${project}/main.ts`, elsewhere(code, port))
		writeFileSync(
			`${project}/old.cts`,
			"import { RestError } from 'verbena'\nexport const status: number = new RestError(404).status\n",
		)
		writeFileSync(`${project}/tsconfig.json`, JSON.stringify(STRICT))
		const compiled = await run({
			args: [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', project],
			cwd: project,
		})
		assert.is(compiled.output, '')
		const program = start({ args: ['out/main.js'], cwd: project })
		try {
			await untilPrinted(program, `http://127.0.0.1:${port}\n`)
			await replay(session, port, ROOT)
		} finally {
			program.child.kill('SIGKILL')
			await program.ended
		}
	})
})
