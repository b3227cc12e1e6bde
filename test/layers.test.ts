/**
 * The rules of `lib/` that plain text can check: who may import whom, how long a file may be, how it begins,
 * what it may not hold. `CONTRIBUTING.md` says why.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from './helpers/describe.ts'
import { ROOT } from './helpers/program.ts'

/**
 * The layers, from the top. A file imports from layers below its own, and from its own folder; a name with a
 * slash at its end is all of a folder that isn't named by itself. A new file or folder gets its place here.
 */
const LAYERS: readonly (readonly string[])[] = [
	['index.ts', 'testing/'],
	['load-handlers.ts'],
	['server.ts'],
	['load/'],
	['options.ts'],
	['node/'],
	['controller.ts'],
	['disposals.ts'],
	['health.ts', 'openapi.ts', 'explorer.ts', 'explorer/page/'],
	['openapi/', 'explorer/', 'health/', 'cors/options.ts', 'compression/'],
	['answer.ts'],
	['preflight.ts'],
	['idempotency.ts', 'hooks.ts', 'on-error.ts', 'mount/compile.ts', 'mount/compile-hooks.ts'],
	['crud/crud-handler.ts'],
	['handler.ts'],
	['crud/'],
	['reply.ts'],
	['reply/'],
	['reply-error.ts'],
	['reply-text.ts'],
	['credentials.ts', 'idempotency-head.ts', 'body.ts', 'view.ts', 'params-source.ts', 'own-lines.ts'],
	['rate-limits.ts'],
	['find-action.ts', 'not-found.ts'],
	['describe/'],
	['reply-head.ts', 'method-time.ts', 'mount/mount.ts'],
	['lookup.ts', 'route.ts'],
	['observe/'],
	['exchange.ts'],
	['content.ts'],
	['adapters/'],
	['adapters/mysql/', 'adapters/postgres/', 'adapters/redis/', 'adapters/sqlite/'],
	['sql/'],
	['crud/memory/'],
	['mount/'],
	['action.ts', 'app.ts'],
	['declarations.ts'],
	['describe/shape.ts'],
	['describe/json-schema.ts', 'idempotency/'],
	['limit/', 'cors/'],
	['auth/'],
	['auth/hmac/'],
	['request.ts', 'auth/frozen-copy.ts'],
	['client/'],
	['cache/', 'decode/', 'route/', 'validate/'],
	[
		'url.ts',
		'override.ts',
		'deadlines.ts',
		'pipelines.ts',
		'upload.ts',
		'unsent.ts',
		'json-array.ts',
		'request-head.ts',
		'accept.ts',
	],
	['crud/model.ts', 'crud/model-error.ts', 'handler-hooks.ts', 'cut-short.ts'],
	[
		'error.ts',
		'custom-reply.ts',
		'http.ts',
		'incoming.ts',
		'logger.ts',
		'explain.ts',
		'reply/json-text.ts',
		'thenable.ts',
		'time.ts',
	],
	['traceparent.ts', 'observe/watched.ts', 'observe/error-text.ts'],
	['wire/'],
]

const GRAB_BAGS = new Set(['utils', 'util', 'helpers', 'common', 'misc', 'types', 'base', 'shared'])

interface SourceFile {
	/** Below `lib/`: `route/trie.ts`. */
	readonly name: string
	readonly text: string
	/** The text without comments and without what is in quotes. */
	readonly code: string
	/** Specifiers, as written. */
	readonly imports: readonly string[]
}

const IMPORT = /^(?:import|export) (?:(?:type )?(?:\{[^}]*\}|\* as \w+|\w+) from )?'([^']+)'$/gm

const files = readdirSync(`${ROOT}/lib`, { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.ts'))
	.sort()
	.map(read)
const byName = new Map(files.map((file) => [file.name, file]))

function read(name: string): SourceFile {
	const text = readFileSync(`${ROOT}/lib/${name}`, 'utf8')
	const imports = [...text.matchAll(IMPORT)].map(([, from = '']) => from)
	return { name, text, code: codeOf(text), imports }
}

/** What is left without comments, texts and regular expressions; a text that is quoted becomes `''`. */
function codeOf(text: string): string {
	const parts =
		/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[=(,:?[]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g
	return text.replaceAll(parts, (part) => (/^\/[/*]/.test(part) ? '' : "''"))
}

/** The files of `lib/` that a file imports. */
function importsOf({ name, imports }: SourceFile): string[] {
	return imports.filter((from) => from.startsWith('.')).map((from) => join(dirname(name), from))
}

function layerOf(name: string): number {
	const own = LAYERS.findIndex((layer) => layer.includes(name))
	return own === -1 ? LAYERS.findIndex((layer) => layer.includes(`${dirname(name)}/`)) : own
}

function mayImport(name: string, other: string): boolean {
	const from = layerOf(name)
	const to = layerOf(other)
	return to > from || (to === from && dirname(name) === dirname(other) && dirname(name) !== '.')
}

/** A way from a file back to itself; empty when there is none. */
function cycleFrom(name: string, path: readonly string[], done: Set<string>): string[] {
	if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
	const file = byName.get(name)
	if (file === undefined || done.has(name)) return []
	for (const other of importsOf(file)) {
		const cycle = cycleFrom(other, [...path, name], done)
		if (cycle.length > 0) return cycle
	}
	done.add(name)
	return []
}

/** The names of the files for which something doesn't hold. */
function offenders(holds: (file: SourceFile) => boolean): string[] {
	return files.filter((file) => !holds(file)).map(({ name }) => name)
}

describe('layers', (test) => {
	test('every file of lib has its layer', () => {
		assert.equal(
			offenders(({ name }) => layerOf(name) !== -1),
			[],
		)
	})

	test('every layer has a file', () => {
		const unused = LAYERS.flat().filter(
			(entry) => !files.some(({ name }) => name === entry || `${dirname(name)}/` === entry),
		)
		assert.equal(unused, [])
	})

	test('a file imports from the layers below, types included', () => {
		const upwards = files.flatMap((file) =>
			importsOf(file)
				.filter((other) => !mayImport(file.name, other))
				.map((other) => `${file.name} imports ${other}`),
		)
		assert.equal(upwards, [])
	})

	test('no file imports itself, by whatever way, types included', () => {
		const done = new Set<string>()
		for (const { name } of files) assert.equal(cycleFrom(name, [], done), [])
	})

	test('all imports are found, and are of lib or of Node', () => {
		const foreign = files.flatMap((file) => [
			...importsOf(file).filter((other) => !byName.has(other)),
			...file.imports.filter((from) => !from.startsWith('.') && !from.startsWith('node:')),
		])
		assert.equal(foreign, [])
		const places = (file: SourceFile) =>
			file.code.match(/(?<!\.)\b(?:(?:from|import) ''|import\()/g)?.length ?? 0
		// What users have written is imported by one file alone.
		assert.equal(
			offenders((file) => places(file) === file.imports.length),
			['load-handlers.ts'],
		)
	})

	test('wire/ can be used in a browser', () => {
		assert.equal(
			offenders(
				({ name, imports }) => !name.startsWith('wire/') || !imports.some((from) => /^node:/.test(from)),
			),
			[],
		)
	})
})

describe('files of lib', (test) => {
	const rules: readonly [string, (file: SourceFile) => boolean][] = [
		['have at most 250 lines', ({ text }) => text.split('\n').length <= 251],
		['begin with a comment that says what is in them', ({ text }) => /^\/\*\*[^@]*?\w[^@]*?\*\//.test(text)],
		['have names in kebab-case', ({ name }) => /^[a-z]+(?:-[a-z]+)*\d*\.ts$/.test(basename(name))],
		['are no grab-bags', ({ name }) => !name.split(/[/.]/).some((part) => GRAB_BAGS.has(part))],
		['have named exports only', ({ code }) => !/\bexport default\b|\bexport \*|\bexport =/.test(code)],
		['export something', ({ code }) => /^export /m.test(code)],
		// Templates are left in the code, and SQL in them has the word: `= any($1)`.
		['have no `any`', ({ code }) => !/(?<!= )\bany\b|= any\b(?!\()/.test(code)],
		['have no `!` that silences the compiler', ({ code }) => !/[\w)\]]!(?!=)/.test(code)],
		['have no directive that silences it', ({ text }) => !/@ts-(?:ignore|nocheck|expect-error)/.test(text)],
		['leave nothing for later', ({ text }) => !/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text)],
		['have no variables of their own', ({ code }) => !/^(?:export )?(?:let|var) /m.test(code)],
		['use `import type` for types', ({ code }) => !/^import \{ (?:type [\w ]+,? ?)+\} from/m.test(code)],
	]
	for (const [rule, holds] of rules) test(rule, () => assert.equal(offenders(holds), []))

	test('index.ts is a list', () => {
		const { code } = byName.get('index.ts') ?? { code: 'none' }
		assert.is(code.replaceAll(/^export (?:type )?\{[^}]*\} from ''\n/gm, '').trim(), '')
	})
})
