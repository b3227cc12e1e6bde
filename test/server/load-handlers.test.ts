import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { loadHandlers, type Request, RestHandler } from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'

const VERBENA = `import { RestHandler } from ${JSON.stringify(`${ROOT}/lib/index.ts`)}\n`

/** A module with a handler that answers `GET <path>/name` with a text. */
function handler(text: string): string {
	return `${VERBENA}export default class extends RestHandler { get_name() { return ${JSON.stringify(text)} } }`
}

const V1 = `${VERBENA}
export default class Articles extends RestHandler {
	override access: Record<string, 'anyone' | 'user' | string[]> = { post_article: 'user' }
	override customRoutes: Record<\`GET \${string}\`, string> = { 'GET newest': 'newest' }
	get_article(id: string): unknown { return { id, title: 'Thyme' } }
	get_tag(name: string) { return this.named(name) }
	post_article() { return 'v1' }
	newest() { return this.named('newest') }
	named(name: string) { return name.toUpperCase() }
}`

const V2 = `import V1 from '../v1/articles.ts'
export default class extends V1 {
	override access = { post_article: ['article:write'], get_draft: 'user' as const }
	override get_article(id: string) { return { article: super.get_article(id) } }
	override named(name: string) { return \`<\${name}>\` }
	get_draft() { return 'draft' }
}`

describe('loadHandlers', (test) => {
	const top = realpathSync(mkdtempSync(join(tmpdir(), 'verbena-load-')))
	let made = 0

	test.after(() => rmSync(top, { recursive: true, force: true }))

	/** A folder of modules; names that end in `->` are links. */
	function folderOf(files: Record<string, string>): string {
		const folder = join(top, String(made++))
		mkdirSync(folder)
		writeFileSync(`${folder}/package.json`, '{ "type": "module" }')
		for (const [name, text] of Object.entries(files)) {
			const file = join(folder, name)
			mkdirSync(dirname(file), { recursive: true })
			if (name.endsWith('->')) symlinkSync(text, file.slice(0, -2))
			else writeFileSync(file, text)
		}
		return folder
	}

	async function pathsOf(files: Record<string, string>): Promise<string[]> {
		return Object.keys(await loadHandlers(folderOf(files)))
	}

	async function refusalOf(folder: unknown): Promise<Error> {
		try {
			await loadHandlers(folder as string) // wrong kinds are tried too
		} catch (error) {
			assert.instance(error, Error)
			return error as Error // as was just asserted
		}
		throw new Error('nothing was refused')
	}

	test("mounts each file's default export at the file's path", async () => {
		const folder = folderOf({
			'blog/v1/articles.ts': handler('v1'),
			'blog/v2/articles.ts': handler('v2'),
			'blog/v2/index.mts': handler('all of v2'),
			'index.js': handler('the root'),
			'a.mjs': handler('a'),
		})
		const { said } = asking(await loadHandlers(folder))
		assert.is(await said('/blog/v1/articles/name'), ok('v1'))
		assert.is(await said('/blog/v2/articles/name'), ok('v2'))
		assert.is(await said('/blog/v2/name'), ok('all of v2'))
		assert.is(await said('/name'), ok('the root'))
		assert.is(await said('/a/name'), ok('a'))
	})

	test('accepts an instance, a class, a factory, and a promise of one', async () => {
		const named = `${VERBENA}class One extends RestHandler { get_name() { return 1 } }\n`
		const folder = folderOf({
			'instance.ts': `${named}export default new One()`,
			'class.ts': `${named}export { One as default }`,
			'factory.ts': `${named}export default () => new One()`,
			'promise.ts': `${named}export default (async () => new One())()`,
			'awaited.ts': `${named}export default await Promise.resolve(new One())`,
			'compiled/package.json': '{ "type": "commonjs" }',
			'compiled/old.js': `Object.defineProperty(exports, '__esModule', { value: true })
				exports.default = class extends globalThis.VerbenaHandler { get_name() { return 1 } }`,
		})
		// tsx would give a CommonJS module a copy of the library; a package has one.
		Reflect.set(globalThis, 'VerbenaHandler', RestHandler)
		const { said } = asking(await loadHandlers(folder))
		for (const path of ['instance', 'class', 'factory', 'promise', 'awaited', 'compiled/old'])
			assert.is(await said(`/${path}/name`), ok(1), path)
	})

	test('skips declarations, tests, other kinds of files, and names that begin with _ or .', async () => {
		const broken = 'this is no module'
		const paths = await pathsOf({
			'a.ts': handler('a'),
			...{ 'a.d.ts': broken, 'a.d.mts': broken, 'a.test.ts': broken, 'a.test.mjs': broken },
			...{ 'a.js.map': broken, 'notes.md': broken, 'data.json': broken, 'page.html': broken, '.ts': broken },
			...{ '_base.ts': broken, '.hidden.ts': broken, '_parts/b.ts': broken, '.git/b.ts': broken },
			...{ 'node_modules/b.js': broken, 'my notes/read me.txt': broken, 'empty/_.ts': broken },
		})
		assert.equal(paths, ['a'])
	})

	test('mounts and imports in the order of the paths', async () => {
		const said = 'globalThis.verbenaOrder'
		const noting = (name: string) => `(${said} ??= []).push('${name}')\n${handler(name)}`
		const files = Object.fromEntries(['b/c', 'z', 'b', 'a', 'B2', 'b-c'].map((name) => [name, noting(name)]))
		const named = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.ts`, text]))
		const order = ['B2', 'a', 'b', 'b-c', 'b/c', 'z']
		assert.equal(await pathsOf(named), order)
		assert.equal(Reflect.get(globalThis, 'verbenaOrder'), order)
	})

	test('decomposed letters in file names are composed, as clients send them', async () => {
		const folder = folderOf({ 'cafe\u0301.ts': handler('open') })
		const { said } = asking(await loadHandlers(folder))
		assert.is(await said('/caf%C3%A9/name'), ok('open'))
	})

	test('follows links to files and folders', async () => {
		const folder = folderOf({
			'v1/a.ts': handler('a'),
			'latest->': 'v1',
			'b.ts->': 'v1/a.ts',
		})
		const { said } = asking(await loadHandlers(folder))
		for (const path of ['v1/a', 'latest/a', 'b']) assert.is(await said(`/${path}/name`), ok('a'), path)
	})

	test('accepts a URL, and a path below the current directory', async () => {
		const folder = folderOf({ 'api/a.ts': handler('a') })
		assert.equal(Object.keys(await loadHandlers(new URL('./api', pathToFileURL(`${folder}/main.ts`)))), ['a'])
		assert.equal(Object.keys(await loadHandlers(pathToFileURL(`${folder}/api/`))), ['a'])
		const before = process.cwd()
		process.chdir(folder)
		try {
			assert.equal(Object.keys(await loadHandlers('./api')), ['a'])
		} finally {
			process.chdir(before)
		}
	})

	test('a later version extends an earlier one: routes and access are inherited, added and changed', async () => {
		const folder = folderOf({ 'blog/v1/articles.ts': V1, 'blog/v2/articles.ts': V2 })
		const authenticator = {
			authenticate: (request: Request) => {
				const id = request.header('Authorization')
				return id === undefined ? null : { id }
			},
		}
		const acl = { allows: ({ id }: { id: string }) => id === 'editor' }
		const { said } = asking(await loadHandlers(folder), { authenticator, acl })
		const v1 = '/blog/v1/articles'
		const v2 = '/blog/v2/articles'
		const as = (user: string) => ({ headers: { Authorization: user } })
		assert.is(await said(`${v1}/article/5`), ok({ id: '5', title: 'Thyme' }))
		assert.is(await said(`${v2}/article/5`), ok({ article: { id: '5', title: 'Thyme' } }))
		assert.is(await said(`${v1}/tag/sage`), ok('SAGE'))
		assert.is(await said(`${v2}/tag/sage`), ok('<sage>'))
		assert.is(await said(`${v1}/newest`), ok('NEWEST'))
		assert.is(await said(`${v2}/newest`), ok('<newest>'))
		assert.match(await said(`${v1}/draft`), /^404 /)
		assert.match(await said(`${v2}/draft`), /^401 /)
		assert.is(await said(`${v2}/draft`, as('reader')), ok('draft'))
		assert.is(await said(`POST ${v1}/article`, as('reader')), ok('v1'))
		assert.match(await said(`POST ${v2}/article`, as('reader')), /^403 /)
		assert.is(await said(`POST ${v2}/article`, as('editor')), ok('v1'))
	})

	const must =
		'must have a handler as its default export: a RestHandler, a class that extends it, or a function that returns one; found'
	const twice = 'is verbena installed twice?'
	const modules: [string, string, string][] = [
		['nothing', '', `${must} none`],
		['a handler by name only', `${VERBENA}export class A extends RestHandler {}`, `${must} none`],
		['an object', 'export default { get_a() {} }', `${must} an instance of Object (${twice})`],
		[
			'an object without prototype',
			'export default Object.create(null)',
			`${must} an instance of nothing (${twice})`,
		],
		['null', 'export default null', `${must} null`],
		['text', "export default 'a'", `${must} a string`],
		['a promise of nothing', 'export default Promise.resolve()', `${must} none`],
		[
			'another class',
			'export default class A {}',
			`${must} the class A, which doesn't extend RestHandler (${twice})`,
		],
		[
			'an asynchronous function',
			`${VERBENA}export default async function make() { return new RestHandler() }`,
			`${must} an asynchronous function: call it, and export its promise`,
		],
	]
	for (const [what, source, message] of modules) {
		test(`a file that exports ${what} is refused`, async () => {
			const folder = folderOf({ 'a.ts': handler('a'), 'b/c.ts': source })
			const error = await refusalOf(folder)
			assert.instance(error, TypeError)
			assert.is(error.message, `${folder}/b/c.ts ${message}`)
		})
	}

	const failures: [string, string, RegExp][] = [
		['throws', "throw new RangeError('no database')", /^no database$/],
		['rejects', "export default Promise.reject(new Error('no database'))", /^no database$/],
		['throws what is no error', "throw 'gone'", /^gone$/],
		['imports what is not there', "import './absent.ts'", /absent\.ts/],
		['is not JavaScript', 'export default class {', /./],
	]
	for (const [what, source, reason] of failures) {
		test(`a file that ${what} is named in the error, with its own error as the cause`, async () => {
			const folder = folderOf({ 'b/c.ts': source })
			const error = await refusalOf(folder)
			assert.ok(error.message.startsWith(`${folder}/b/c.ts: `), error.message)
			assert.match(error.message.slice(`${folder}/b/c.ts: `.length), reason)
			const { cause } = error
			assert.match(cause instanceof Error ? cause.message : String(cause), reason)
		})
	}

	test('where Node cannot run TypeScript, the error says what to do', () => {
		const folder = folderOf({ 'api/a.ts': 'export default 1' })
		// The folder is loaded with tsx's hooks, except in a process without them.
		const hooks = `import { register } from 'node:module'
			register('data:text/javascript,' + encodeURIComponent(\`export async function load(url, context, next) {
				if (!url.endsWith('/a.ts')) return next(url, context)
				throw Object.assign(new TypeError('Unknown file extension'), { code: 'ERR_UNKNOWN_FILE_EXTENSION' })
			}\`))
			const { loadHandlers } = await import(${JSON.stringify(`${ROOT}/lib/index.ts`)})
			await loadHandlers('./api').catch((error) => console.log(error.message))`
		writeFileSync(`${folder}/main.mts`, hooks)
		const { stdout } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), 'main.mts'], {
			cwd: folder,
			encoding: 'utf8',
		})
		assert.is(
			stdout,
			"api/a.ts: this Node can't run TypeScript: start it with `node --import tsx`, use Node 22.18 or later, or load the folder of compiled files\n",
		)
	})

	const A = handler('a')
	const collisions: [string, Record<string, string>, string][] = [
		[
			'a file and an index',
			{ 'a.ts': A, 'a/index.ts': A },
			'@/a.ts and @/a/index.ts would both be mounted at "a": keep one of them',
		],
		[
			'two endings',
			{ 'b/a.js': A, 'b/a.ts': A },
			'@/b/a.js and @/b/a.ts would both be mounted at "b/a": keep one of them',
		],
		[
			'two indexes',
			{ 'index.js': A, 'index.mts': A },
			'@/index.js and @/index.mts would both be mounted at "": keep one of them',
		],
		[
			'files in two spellings',
			{ 'Blog-post.ts': A, 'blog-post.ts': A },
			`@/Blog-post.ts and @/blog-post.ts spell "blog-post" in two ways, which some file systems can't tell apart: use one`,
		],
		[
			'folders in two spellings',
			{ 'x/Blog/a.ts': A, 'x/blog/b.ts': A },
			`@/x/Blog/a.ts and @/x/blog/b.ts spell "x/blog" in two ways, which some file systems can't tell apart: use one`,
		],
		[
			'letters put together and taken apart',
			{ 'caf\u00e9.ts': A, 'cafe\u0301.ts': A },
			'@/cafe\u0301.ts and @/caf\u00e9.ts would both be mounted at "caf\u00e9": keep one of them',
		],
		[
			'a blank',
			{ 'my file.ts': A },
			'@/my file.ts: the handler path "my file" may not hold ?, #, %, \\, blanks or control characters',
		],
		[
			'a blank in a folder',
			{ 'my blog/a.ts': A },
			'@/my blog/a.ts: the handler path "my blog/a" may not hold ?, #, %, \\, blanks or control characters',
		],
		[
			'an escape',
			{ 'a%2fb.ts': A },
			'@/a%2fb.ts: the handler path "a%2fb" may not hold ?, #, %, \\, blanks or control characters',
		],
		[
			'a backslash',
			{ 'a\\b.ts': A },
			'@/a\\b.ts: the handler path "a\\\\b" may not hold ?, #, %, \\, blanks or control characters',
		],
		[
			'a line break',
			{ 'a\nb.ts': A },
			'@/a\nb.ts: the handler path "a\\nb" may not hold ?, #, %, \\, blanks or control characters',
		],
		[
			'a link in a circle',
			{ 'a.ts': A, 'b/again->': '..' },
			'@/b/again is a link to a folder that contains it: following it would never end',
		],
	]
	for (const [what, files, message] of collisions) {
		test(`${what} is refused`, async () => {
			const folder = folderOf(files)
			const error = await refusalOf(folder)
			assert.instance(error, TypeError)
			assert.is(error.message, message.replaceAll('@', folder))
		})
	}

	test('two folders that link to each other are refused', async () => {
		const folder = folderOf({ 'a/x.ts': A, 'b/y.ts': A, 'a/b->': '../b', 'b/a->': '../a' })
		assert.is(
			(await refusalOf(folder)).message,
			`${folder}/a/b/a is a link to a folder that contains it: following it would never end`,
		)
	})

	const unreadable: [string, Record<string, string>, string][] = [
		['a link that leads nowhere', { 'a.ts->': './absent.ts' }, "@/a.ts can't be read: ENOENT"],
		['a link to itself', { 'a.ts->': './a.ts' }, "@/a.ts can't be read: ELOOP"],
		[
			'a folder of nothing',
			{ 'notes.md': '' },
			'@ holds no handlers: files that end in .js, .mjs, .ts or .mts',
		],
	]
	for (const [what, files, beginning] of unreadable) {
		test(`${what} is refused`, async () => {
			const folder = folderOf(files)
			const { message } = await refusalOf(folder)
			assert.ok(message.startsWith(beginning.replaceAll('@', folder)), message)
		})
	}

	test('a missing folder, and a file in its place, are named in the error', async () => {
		const absent = await refusalOf('./no-such-folder')
		assert.match(absent.message, /^no-such-folder can't be read: ENOENT/)
		assert.is((absent.cause as { code: string }).code, 'ENOENT') // Node's error
		assert.match((await refusalOf('./package.json')).message, /^package\.json can't be read: ENOTDIR/)
	})

	const wrong: [unknown, string][] = [
		[undefined, 'undefined'],
		['', 'an empty text'],
		[5, 'number'],
		[new URL('https://example.org/api'), 'https://example.org/api'],
	]
	for (const [folder, got] of wrong) {
		test(`${got} is refused as a folder`, async () => {
			const error = await refusalOf(folder)
			assert.instance(error, TypeError)
			assert.is(
				error.message,
				`loadHandlers takes a folder, './api' or new URL('./api', import.meta.url), got ${got}`,
			)
		})
	}
})
