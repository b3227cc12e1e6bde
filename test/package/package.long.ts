/** Tests the published package: packed, installed into an empty project, compiled there, and run. */
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { install } from '../helpers/packed.ts'
import { freePorts, ROOT, run, start, untilPrinted } from '../helpers/program.ts'
import { elsewhere, replay } from '../helpers/session.ts'
import { Mappings } from './mappings.ts'

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

const STRICT = {
	compilerOptions: {
		...{ strict: true, module: 'nodenext', target: 'es2023', skipLibCheck: false, types: ['node'] },
		...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, outDir: 'out', rootDir: '.' },
	},
	include: ['*.ts'],
}

/** Code that only servers with the option for it read. */
const LOADED_LATER: [what: string, code: string][] = [
	["the explorer's page", '<!doctype html>'],
	['the OpenAPI description', '3.1.1'],
]

/** The first program of the README, and the session that follows it. */
function readme(): { code: string; session: string } {
	const text = readFileSync(`${ROOT}/README.md`, 'utf8')
	const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? []
	const [, session = ''] = /^```console\n([\s\S]*?)^```$/m.exec(text) ?? []
	return { code, session }
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
		project = await install(folder)
		installed = `${project}/node_modules/verbena`
	})

	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('contains what is needed, and nothing else', () => {
		const top = readdirSync(installed).sort()
		assert.equal(top, ['LICENSE', 'README.md', 'dist', 'package.json'])
		const built = below(`${installed}/dist`)
		const code = built.filter((name) => name.endsWith('.js'))
		const entries = code.filter((name) => !name.startsWith('chunks/'))
		const databases = ['mysql', 'postgres', 'sqlite'].map((name) => `models/${name}/model`)
		const others = [
			'client/crud',
			'client/index',
			'index',
			'models/index',
			'models/sql/index',
			...['providers/react-admin', 'providers/refine'],
			'testing/index',
		]
		const subjects = ['cache/redis/redis-cache', ...others, ...databases].sort()
		assert.equal(
			entries.sort(),
			[...subjects, 'cli/main'].sort().map((name) => `${name}.js`),
		)
		const page = gzipSync(readFileSync(`${installed}/dist/client/crud.js`)).length
		assert.ok(page < 8_450, `CrudClient is ${page} bytes for a page that loads it as it is`)
		const types = [...subjects, 'browser', 'types'].map((name) => `${name}.d.ts`)
		const maps = ['browser.d.ts.map', 'types.d.ts.map']
		const rest = built.filter((name) => !code.includes(name) && !name.startsWith('source/'))
		assert.equal(rest.sort(), [...types, ...maps].sort())
	})

	test('importing it reads few files; what only some servers need is separate', () => {
		const read = new Set<string>()
		const follow = (name: string) => {
			if (read.has(name)) return
			read.add(name)
			const text = readFileSync(`${installed}/dist/${name}`, 'utf8')
			for (const [, from = ''] of text.matchAll(/(?:import|from)\s*"(\.[^"]+)"/g))
				follow(join(dirname(name), from))
		}
		follow('index.js')
		// Each set of entries that share a module has a file for it, and each file takes about 0.5 % of the import's time.
		assert.ok(read.size > 1 && read.size <= 14, `${read.size} files: ${[...read].join(', ')}`)
		for (const [what, code] of LOADED_LATER) {
			const holders = below(`${installed}/dist`)
				.filter((name) => name.endsWith('.js'))
				// Long texts go on in the next line.
				.filter((name) =>
					readFileSync(`${installed}/dist/${name}`, 'utf8').replaceAll('\\\n', '').includes(code),
				)
			assert.is(holders.length, 1, `${what} is in ${holders.join(', ')}`)
			assert.not(read.has(holders[0] ?? ''), what)
		}
	})

	test('its command serves a file from an empty folder', async () => {
		writeFileSync(`${project}/blog.json`, '{"posts":[{"id":1,"title":"a"}]}')
		const running = start({ args: ['node_modules/.bin/verbena', 'blog.json', '--port', '0'], cwd: project })
		await untilPrinted(running, 'Stop: ')
		const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(running.output()) ?? []
		const response = await fetch(`${url}/posts/1`)
		assert.is(await response.text(), '{"success":true,"data":{"id":1,"title":"a"}}')
		const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
		assert.equal(Object.keys(paths), ['/posts', '/posts/{id}'])
		running.child.kill('SIGINT')
		assert.is(await running.ended, 0)
		const { output } = await run({ args: ['node_modules/.bin/verbena', '--version'], cwd: project })
		assert.is(output, `${manifest.version}\n`)
	})

	test('is under 2.3 MB in under 150 files', () => {
		const files = below(installed)
		const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0)
		assert.ok(bytes < 2_300_000, `${bytes} bytes`)
		assert.ok(files.length < 150, `${files.length} files`)
	})

	test('links from the README to the docs lead to pages of the repository', () => {
		const text = readFileSync(`${installed}/README.md`, 'utf8')
		const pages = [...text.matchAll(/\]\((docs\/[\w-]+\.md)/g)].map(([, page = '']) => page)
		assert.ok(pages.length > 20)
		assert.equal(
			pages.filter((page) => !existsSync(join(ROOT, page))),
			[],
		)
	})

	test('go-to-definition leads to the TypeScript source', () => {
		const SHOWN: [chunk: string, declaration: string, source: string, code: string][] = [
			['types', 'declare class RestHandler', 'handler/handler.ts', 'class RestHandler'],
			['types', 'declare function createServer', 'server/server.ts', 'function createServer'],
			['types', 'declare class PostgresModel', 'models/postgres/model.ts', 'class PostgresModel'],
			['types', '    getRawPostData(', 'handler/handler.ts', 'getRawPostData('],
			['browser', 'declare class RestError', 'base/error.ts', 'class RestError'],
			['browser', 'declare function signRequest', 'client/sign-request.ts', 'function signRequest'],
		]
		for (const [chunk, declaration, source, code] of SHOWN)
			assert.equal(definitionOf(installed, chunk, declaration), [`source/${source}`, true], code)

		function definitionOf(at: string, chunk: string, declaration: string): [string, boolean] {
			const lines = readFileSync(`${at}/dist/${chunk}.d.ts`, 'utf8').split('\n')
			const line = lines.findIndex((text) => text.includes(declaration))
			assert.ok(line >= 0, declaration)
			const name = /(\w+)\(?$/.exec(declaration)?.[1] ?? ''
			const json = readFileSync(`${at}/dist/${chunk}.d.ts.map`, 'utf8')
			const { sources } = JSON.parse(json) as { sources: string[] }
			const column = (lines[line] ?? '').indexOf(name)
			const found = new Mappings(json).line(line).findLast((segment) => segment.column <= column)
			const source = sources[found?.source ?? -1] ?? ''
			const text = readFileSync(`${at}/dist/${source}`, 'utf8').split('\n')[found?.line ?? -1] ?? ''
			return [source, text.slice(found?.from).startsWith(name)]
		}
	})

	test("its declarations compile alone, those for browsers without Node's", async () => {
		const folderOf = (name: string, imports: readonly string[], types: readonly string[]) => {
			mkdirSync(`${project}/${name}`)
			const lines = imports.map((path, at) => `import * as m${at} from '${path}'\nvoid m${at}\n`)
			writeFileSync(`${project}/${name}/all.ts`, lines.join(''))
			const { compilerOptions } = STRICT
			const own = { ...compilerOptions, rootDir: undefined, outDir: undefined, noEmit: true, types }
			const lib = types.length === 0 ? { lib: ['es2023', 'dom', 'dom.iterable'] } : {}
			const config = { compilerOptions: { ...own, ...lib }, include: ['all.ts'] }
			writeFileSync(`${project}/${name}/tsconfig.json`, JSON.stringify(config))
			return `${project}/${name}`
		}
		const all = folderOf('all', modules, ['node'])
		const browser = folderOf(
			'browser',
			modules.filter((path) => /\/(?:client|react-admin|refine)/.test(path)),
			[],
		)
		for (const folder of [all, browser]) {
			const tsc = `${ROOT}/node_modules/typescript/bin/tsc`
			assert.is((await run({ args: [tsc, '-p', folder], cwd: project })).output, '')
		}
	})

	test('has no dependencies', () => {
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

	test('classes have the names they are exported by, for logs and messages', async () => {
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

	test('no other file can be imported', async () => {
		const { output } = await run({
			args: ['--input-type=module', '-e', "await import('verbena/dist/server.js')"],
			cwd: project,
		})
		assert.match(output, 'ERR_PACKAGE_PATH_NOT_EXPORTED')
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
