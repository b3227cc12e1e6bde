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
 * The rooms, from the top: a file imports from rooms below its own, and from its own. `index.ts` stands above all.
 */
const ROOMS: readonly string[] = [
	...['testing', 'cli', 'server', 'transport', 'explorer', 'openapi', 'metrics', 'health', 'crud'],
	...['providers', 'client'],
	...['handler', 'pipeline', 'routing', 'reply', 'observe', 'exchange', 'cors', 'limits', 'auth', 'request'],
	...['models', 'cache', 'validate', 'base', 'wire'],
]

const GRAB_BAGS = new Set(['utils', 'util', 'helpers', 'common', 'misc', 'types', 'shared'])

interface SourceFile {
	/** Below `lib/`: `routing/custom/trie.ts`. */
	readonly name: string
	readonly text: string
	/** The text without comments and without what is in quotes. */
	readonly code: string
	/** Specifiers, as written. */
	readonly imports: readonly string[]
}

const IMPORT = /^(?:import|export) (?:(?:type )?(?:\{[^}]*\}|\* as \w+|\w+) from )?'([^']+)'$/gm

/** Modules that are loaded on demand, and types of such modules. */
const DYNAMIC_IMPORT = /\bimport\('([^']+)'\)/g

const files = readdirSync(`${ROOT}/lib`, { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.ts'))
	.sort()
	.map(read)
const byName = new Map(files.map((file) => [file.name, file]))

function read(name: string): SourceFile {
	const text = readFileSync(`${ROOT}/lib/${name}`, 'utf8')
	const found = [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC_IMPORT)]
	const imports = found.map(([, from = '']) => from)
	return { name, text, code: codeOf(text), imports }
}

/** The text without comments; string literals and regular expressions become `''`. */
function codeOf(text: string): string {
	const parts =
		/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[=(,:?[]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g
	return text.replaceAll(parts, (part) => (/^\/[/*]/.test(part) ? '' : "''"))
}

/** The files of `lib/` that a file imports. */
function importsOf({ name, imports }: SourceFile): string[] {
	return imports.filter((from) => from.startsWith('.')).map((from) => join(dirname(name), from))
}

/** The room that a file is in: `crud` of `crud/plan.ts`, `index.ts` of itself. */
function roomOf(name: string): string {
	return name.split('/')[0] ?? name
}

function mayImport(name: string, other: string): boolean {
	return name === 'index.ts' || ROOMS.indexOf(roomOf(other)) >= ROOMS.indexOf(roomOf(name))
}

/** An import cycle that is reached from a file; empty when there is none. */
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

/** The names of the files that break a rule. */
function offenders(holds: (file: SourceFile) => boolean): string[] {
	return files.filter((file) => !holds(file)).map(({ name }) => name)
}

describe('layers', (test) => {
	test('every file of lib but index.ts is in a room', () => {
		assert.equal(
			offenders(({ name }) => ROOMS.includes(roomOf(name))),
			['index.ts'],
		)
	})

	test('every room has a file', () => {
		assert.equal(
			ROOMS.filter((room) => !files.some(({ name }) => roomOf(name) === room)),
			[],
		)
	})

	test('a file imports from its room and those below, types included', () => {
		const upwards = files.flatMap((file) =>
			importsOf(file)
				.filter((other) => !mayImport(file.name, other))
				.map((other) => `${file.name} imports ${other}`),
		)
		assert.equal(upwards, [])
	})

	test('folders of a room import each other in one direction', () => {
		const edges = new Set<string>()
		for (const file of files)
			for (const other of importsOf(file)) {
				const [room, from] = file.name.split('/')
				const [otherRoom, to] = other.split('/')
				if (room !== otherRoom || from === to || [from, to].some((part) => part?.endsWith('.ts'))) continue
				edges.add(`${room}: ${from} ${to}`)
			}
		const both = [...edges].filter((edge) => edges.has(edge.replace(/(\S+) (\S+)$/, '$2 $1')))
		assert.equal(both, [])
	})

	test('no file imports itself, directly or indirectly, types included', () => {
		const done = new Set<string>()
		for (const { name } of files) assert.equal(cycleFrom(name, [], done), [])
	})

	test('all imports are found, and are from lib or Node', () => {
		const foreign = files.flatMap((file) => [
			...importsOf(file).filter((other) => !byName.has(other)),
			...file.imports.filter((from) => !from.startsWith('.') && !from.startsWith('node:')),
		])
		assert.equal(foreign, [])
		// Not preceded by a dot: a method may be called import.
		const places = (file: SourceFile) =>
			file.code.match(/(?<!\.)\b(?:(?:from|import) ''|import\((?!source))/g)?.length ?? 0
		// Paths that `databases.ts` and `load-handlers.ts` import are known only at run time. The other two generate code with
		// imports.
		assert.equal(
			offenders((file) => places(file) === file.imports.length),
			['cli/databases.ts', 'cli/eject.ts', 'cli/record-types.ts', 'server/load-handlers.ts'],
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
		['have at most 350 lines', ({ text }) => text.split('\n').length <= 351],
		[
			'begin with a comment that says what is in them',
			({ text }) => /^(?:#!.*\n)?\/\*\*[^@]*?\w[^@]*?\*\//.test(text),
		],
		['have names in kebab-case', ({ name }) => /^[a-z]+(?:-[a-z]+)*\d*\.ts$/.test(basename(name))],
		[
			'are no grab-bags',
			({ name }) =>
				/^models\/\w+\/types\.ts$/.test(name) || !name.split(/[/.]/).some((part) => GRAB_BAGS.has(part)),
		],
		['have named exports only', ({ code }) => !/\bexport default\b|\bexport \*|\bexport =/.test(code)],
		[
			'export something, unless they are a program',
			({ text, code }) => text.startsWith('#!') || /^export /m.test(code),
		],
		// Template literals stay in `code`, and the SQL in them may have `= any($1)`.
		['have no `any`', ({ code }) => !/(?<!= )\bany\b|= any\b(?!\()/.test(code)],
		['have no `!` that silences the compiler', ({ code }) => !/[\w)\]]!(?!=)/.test(code)],
		['have no directive that silences it', ({ text }) => !/@ts-(?:ignore|nocheck|expect-error)/.test(text)],
		['leave nothing for later', ({ text }) => !/\b(?:TODO|FIXME|XXX|HACK)\b/.test(text)],
		['have no variables of their own', ({ code }) => !/^(?:export )?(?:let|var) /m.test(code)],
		[
			'keep no state in a module, but for values of frozen objects',
			({ name, code }) =>
				name === 'base/attached.ts' ||
				!/^(?:export )?const \w+(?:: (?!Readonly(?:Map|Set)<)[^=]+)? = new (?:Weak)?(?:Map|Set)\b/m.test(
					code,
				),
		],
		['use `import type` for types', ({ code }) => !/^import \{ (?:type [\w ]+,? ?)+\} from/m.test(code)],
	]
	for (const [rule, holds] of rules) test(rule, () => assert.equal(offenders(holds), []))

	test('index.ts is a list', () => {
		const { code } = byName.get('index.ts') ?? { code: 'none' }
		assert.is(code.replaceAll(/^export (?:type )?\{[^}]*\} from ''\n/gm, '').trim(), '')
	})
})
