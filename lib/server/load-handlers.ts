/**
 * `loadHandlers`: imports a folder of files, each of which exports a handler, and returns what `createServer` takes.
 * Called by programs.
 */
import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Mountable, RestHandler } from '../handler/handler.ts'
import { parsePath } from '../routing/routing.ts'
import type { Handlers } from './server.ts'

interface HandlerFile {
	/** Its handler path: `blog/v2/articles`. */
	readonly path: string
	/** Where it is, absolute. */
	readonly file: string
	/** The file for messages: relative to the current directory. */
	readonly shown: string
}

const HANDLER = /^(.+)\.m?[jt]s$/s
const IGNORED = /^[._]|^node_modules$|\.d\.m?ts$|\.test\.[^.]+$/

/**
 * Imports the files of a folder and returns the handler that each exports by default, by its path:
 * `api/blog/v2/articles.ts` is `blog/v2/articles`, and `index` stands for its folder.
 *
 *     const server = createServer(await loadHandlers('./api'))
 *
 * Files are `.js`, `.mjs`, `.ts` and `.mts`; declarations (`.d.ts`), tests (`*.test.*`), `node_modules`, and names that
 * begin with `_` or `.` are ignored. Files are imported one after the other, in the order of their paths. The default
 * export is a handler, its class, a function that returns one, or a promise of one of these.
 *
 * @param folder relative to the current directory, or `new URL('./api', import.meta.url)`
 * @throws TypeError, as a rejection, for a file that exports no handler, a name that can't be in a path, and two files
 *   for one path; it names the files
 * @throws Error, as a rejection, for a folder without handlers, and for a file that can't be imported, with that file's
 *   error as its `cause`
 */
export async function loadHandlers(folder: string | URL): Promise<Handlers> {
	const root = absolutePath(folder)
	const files = filesIn(root, [], []).sort((a, b) => compare(a.path, b.path) || compare(a.file, b.file))
	refuseCollisions(files)
	if (files.length === 0)
		throw new Error(`${shownAs(root)} holds no handlers: files that end in .js, .mjs, .ts or .mts`)
	const handlers: Record<string, Mountable> = {}
	for (const file of files) handlers[file.path] = await handlerOf(file)
	return handlers
}

function absolutePath(folder: unknown): string {
	if (typeof folder === 'string' && folder !== '') return resolve(folder)
	if (folder instanceof URL && folder.protocol === 'file:') return resolve(fileURLToPath(folder))
	const found =
		folder instanceof URL ? folder.href : typeof folder === 'string' ? 'an empty text' : typeof folder
	throw new TypeError(
		`loadHandlers takes a folder, './api' or new URL('./api', import.meta.url), got ${found}`,
	)
}

async function handlerOf({ file, shown }: HandlerFile): Promise<Mountable> {
	let exported: unknown
	try {
		exported = await defaultOf(await import(pathToFileURL(file).href))
	} catch (cause) {
		throw new Error(`${shown}: ${reasonOf(cause)}`, { cause })
	}
	if (isMountable(exported)) return exported
	throw new TypeError(
		`${shown} must have a handler as its default export: a RestHandler, a class that extends it, or a function that returns one; found ${found(exported)}`,
	)
}

/** The default export. For a module compiled to CommonJS, `import()` wraps it in another default export. */
function defaultOf(module: { readonly default?: unknown }): unknown {
	const { default: exported } = module
	if (typeof exported !== 'object' || exported === null || !('__esModule' in exported)) return exported
	return 'default' in exported ? exported.default : undefined
}

function reasonOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error)
	if (!('code' in error) || error.code !== 'ERR_UNKNOWN_FILE_EXTENSION') return error.message
	return "this Node can't run TypeScript: start it with `node --import tsx`, use Node 22.18 or later, or load the folder of compiled files"
}

/** A function that is not a class counts as a factory of handlers, which is called at mount. */
function isMountable(value: unknown): value is Mountable {
	if (typeof value !== 'function') return value instanceof RestHandler
	return value.prototype instanceof RestHandler || !/^(?:class|async)\b/.test(String(value))
}

function found(value: unknown): string {
	if (value === undefined) return 'none'
	if (typeof value === 'function') {
		if (/^async\b/.test(String(value))) return 'an asynchronous function: call it, and export its promise'
		return `the class ${value.name}, which doesn't extend RestHandler (is verbena installed twice?)`
	}
	if (typeof value !== 'object' || value === null) return value === null ? 'null' : `a ${typeof value}`
	return `an instance of ${value.constructor?.name ?? 'nothing'} (is verbena installed twice?)`
}

/** A path for messages: relative to the current directory if it is below it. */
function shownAs(file: string): string {
	const below = relative(process.cwd(), file)
	return below === '' || below.startsWith('..') ? file : below
}

/** `parents` are the real paths of the folders above: following a link to one of them would never end. */
function filesIn(folder: string, segments: readonly string[], parents: readonly string[]): HandlerFile[] {
	const real = read(folder, () => realpathSync(folder))
	if (parents.includes(real))
		throw new TypeError(
			`${shownAs(folder)} is a link to a folder that contains it: following it would never end`,
		)
	return read(folder, () => readdirSync(folder).sort())
		.filter((name) => !IGNORED.test(name))
		.flatMap((name) => {
			const file = join(folder, name)
			const stats: Stats = read(file, () => statSync(file))
			if (stats.isDirectory()) return filesIn(file, [...segments, name], [...parents, real])
			const [, own] = HANDLER.exec(name) ?? []
			if (own === undefined || !stats.isFile()) return []
			return [fileAt(own === 'index' ? segments : [...segments, own], file)]
		})
}

/** Compares by code units: the same order in every locale. */
function compare(a: string, b: string): number {
	return a < b ? -1 : Number(a > b)
}

function fileAt(segments: readonly string[], file: string): HandlerFile {
	const shown = shownAs(file)
	// Some file systems store names decomposed (NFD); clients send NFC.
	const path = segments.join('/').normalize('NFC')
	return { path: parsePath(`${shown}: the handler path`, path).join('/'), file, shown }
}

/** Runs `work`, which reads a file, and adds the file's path to its errors. */
function read<T>(file: string, work: () => T): T {
	try {
		return work()
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause)
		throw new Error(`${shownAs(file)} can't be read: ${reason}`, { cause })
	}
}

/** Refuses two files for one path, and paths that differ only in case, which some file systems ignore. */
function refuseCollisions(files: readonly HandlerFile[]): void {
	const byPath = new Map<string, HandlerFile>()
	const spellings = new Map<string, { readonly text: string; readonly shown: string }>()
	for (const file of files) {
		const other = byPath.get(file.path)
		if (other !== undefined)
			throw new TypeError(
				`${other.shown} and ${file.shown} would both be mounted at ${JSON.stringify(file.path)}: keep one of them`,
			)
		byPath.set(file.path, file)
		const segments = file.path.split('/')
		for (const at of segments.keys()) {
			const text = segments.slice(0, at + 1).join('/')
			const first = spellings.get(text.toLowerCase()) ?? { text, shown: file.shown }
			if (first.text !== text)
				throw new TypeError(
					`${first.shown} and ${file.shown} spell ${JSON.stringify(text.toLowerCase())} in two ways, which some file systems can't tell apart: use one`,
				)
			spellings.set(text.toLowerCase(), first)
		}
	}
}
