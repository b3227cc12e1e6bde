/** `loadHandlers`: a folder of files becomes what `createServer` takes. */
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Mountable, RestHandler } from '../handler/handler.ts'
import { type HandlerFile, handlerFiles, shownAs } from './handler-files.ts'
import type { Handlers } from './server.ts'

/**
 * Imports the files of a folder, and answers the handler that each exports by default, by its path:
 * `api/blog/v2/articles.ts` is `blog/v2/articles`, and `index` stands for its folder.
 *
 *     const server = createServer(await loadHandlers('./api'))
 *
 * Files are `.js`, `.mjs`, `.ts` and `.mts`; declarations (`.d.ts`), tests (`*.test.*`), `node_modules`, and
 * names that begin with `_` or `.` are left out. They are imported one after the other, in the order of their
 * paths. The default export is a handler, its class, a function that makes one, or a promise of one of these.
 *
 * @param folder relative to the current directory, or `new URL('./api', import.meta.url)`
 * @throws TypeError, by the promise, for a file that exports no handler, a name that can't be in a path, and
 *   two files for one path; it names the files
 * @throws Error, by the promise, for a folder without handlers, and for a file that can't be imported, with
 *   that file's error as its `cause`
 */
export async function loadHandlers(folder: string | URL): Promise<Handlers> {
	const root = locationOf(folder)
	const files = handlerFiles(root)
	if (files.length === 0)
		throw new Error(`${shownAs(root)} holds no handlers: files that end in .js, .mjs, .ts or .mts`)
	const handlers: Record<string, Mountable> = {}
	for (const file of files) handlers[file.path] = await handlerOf(file)
	return handlers
}

function locationOf(folder: unknown): string {
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

/** A module that was compiled to CommonJS has its default export within another. */
function defaultOf(module: { readonly default?: unknown }): unknown {
	const { default: exported } = module
	if (typeof exported !== 'object' || exported === null || !('__esModule' in exported)) return exported
	return 'default' in exported ? exported.default : undefined
}

function reasonOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error)
	if (!('code' in error) || error.code !== 'ERR_UNKNOWN_FILE_EXTENSION') return error.message
	return "this Node can't run TypeScript: start it with `node --import tsx`, take Node 22.18 or later, or load the folder of compiled files"
}

/** A function that is no class is taken for one that makes handlers; it is called when it is mounted. */
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
