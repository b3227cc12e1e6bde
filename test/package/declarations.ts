/**
 * Puts declarations of many modules into few files. They are those that tsc writes: one statement begins a line, imports
 * and exports are named, and nothing is exported by default. Names that two modules give to different things, or that are
 * global elsewhere, are told apart by a number.
 */
import { dirname, join } from 'node:path'
import { COMMENT, type Module, moduleOf, needs, type Origin, TOKEN } from './declared-module.ts'
import { Mappings, type Segment, shifted } from './mappings.ts'

/** A file that is written. */
export interface Chunk {
	readonly text: string
	readonly map: {
		readonly version: 3
		readonly sources: readonly string[]
		readonly names: readonly string[]
		readonly mappings: string
	}
}

/** What a subpath exports, of each chunk. */
export interface Shown {
	readonly chunk: string
	/** As they stand in an export: `type Acl`, `Request$1 as Request`. */
	readonly names: readonly string[]
}

export interface Bundled {
	readonly chunks: ReadonlyMap<string, Chunk>
	/** By subpath's module. */
	readonly exported: ReadonlyMap<string, readonly Shown[]>
	/** Modules whose classes or functions a subpath exports. */
	readonly sources: readonly string[]
}

/** @param chunks the modules of subpaths by the file that takes what they need; an earlier one takes what both need */
export function bundle(
	texts: ReadonlyMap<string, { text: string; map: string }>,
	chunks: Readonly<Record<string, readonly string[]>>,
): Bundled {
	const modules = new Map<string, Module>()
	const placed = new Map<string, string>()
	const read = (name: string): Module => {
		const known = modules.get(name)
		if (known !== undefined) return known
		const given = texts.get(name)
		if (given === undefined) throw new Error(`there are no declarations of ${name}`)
		const module = moduleOf(name, given)
		modules.set(name, module)
		return module
	}
	for (const [chunk, entries] of Object.entries(chunks)) {
		const visit = (name: string): void => {
			if (placed.has(name)) return
			placed.set(name, chunk)
			for (const other of needs(read(name))) visit(other)
		}
		entries.forEach(visit)
	}
	const names = new Map<string, string>()
	const world: World = { read, placed, names, shown: new Set() }
	const entries = Object.values(chunks).flat()
	const shown = shownNames(world, entries)
	for (const { name } of shown) world.shown.add(name)
	nameAll(modules, names, shown)
	const exported = new Map<string, readonly Shown[]>()
	const sources = new Set<string>()
	for (const entry of entries) exported.set(entry, shownBy(world, entry, sources))
	const written = Object.keys(chunks).map((chunk) => [chunk, chunkOf(world, chunk, sources)] as const)
	return { chunks: new Map(written), exported, sources: [...sources].sort() }
}

interface World {
	read(name: string): Module
	/** The chunk of each module. */
	readonly placed: ReadonlyMap<string, string>
	/** The last name of what a module declares, by `module name`. */
	readonly names: ReadonlyMap<string, string>
	/** What subpaths export keeps its name. */
	readonly shown: Set<string>
}

/** What subpaths export, as `module name`, which keeps its name before others do. */
function shownNames(world: World, entries: readonly string[]): Origin[] {
	return entries.flatMap((from) =>
		allExports(world, from).map((name) => declarationOf(world, { from, name })),
	)
}

/** Each name that is declared twice, or that stands for something else in another module, gets a number. */
function nameAll(
	modules: ReadonlyMap<string, Module>,
	names: Map<string, string>,
	shown: readonly Origin[],
): void {
	const free = new Set<string>()
	for (const { words, declared, imports } of modules.values())
		for (const word of words) if (!declared.has(word) && !imports.has(word)) free.add(word)
	for (const { imports } of modules.values())
		for (const [local, { from }] of imports) if (from.startsWith('node:')) free.add(local)
	// What is global, or Node's, can be called otherwise beside what a subpath shows.
	const keep = new Set(shown.map(({ name }) => name))
	const taken = new Set([...free].filter((word) => !keep.has(word)))
	const others = [...modules.values()].flatMap(({ name: from, declared }) =>
		[...declared.keys()].map((name) => ({ from, name })),
	)
	for (const { from, name } of [...shown, ...others]) {
		if (names.has(`${from} ${name}`)) continue
		let last = name
		for (let number = 1; taken.has(last); number++) last = `${name}$${number}`
		taken.add(last)
		names.set(`${from} ${name}`, last)
	}
}

/** Where a name is declared that a module exports, or imports. */
function declarationOf(world: World, { from, name }: Origin): Origin {
	if (from.startsWith('node:')) return { from, name }
	const module = world.read(from)
	if (module.declared.has(name)) return { from, name }
	const origin = module.exports.get(name) ?? module.imports.get(name)
	if (origin !== undefined && !(origin.from === from && origin.name === name))
		return declarationOf(world, origin)
	const imported = module.imports.get(name)
	if (imported !== undefined) return declarationOf(world, imported)
	for (const star of module.stars)
		if (allExports(world, star).includes(name)) return declarationOf(world, { from: star, name })
	throw new Error(`${from} exports no ${name}`)
}

function allExports(world: World, name: string): string[] {
	const { exports, stars } = world.read(name)
	return [...exports.keys(), ...stars.flatMap((star) => allExports(world, star))]
}

function lastName({ names }: World, { from, name }: Origin): string {
	return names.get(`${from} ${name}`) ?? name
}

function shownBy(world: World, entry: string, sources: Set<string>): Shown[] {
	const byChunk = new Map<string, string[]>()
	for (const name of [...new Set(allExports(world, entry))].sort()) {
		const origin = declarationOf(world, { from: entry, name })
		const last = lastName(world, origin)
		const word = world.read(origin.from).declared.get(origin.name) ?? ''
		const isType = word === 'interface' || word === 'type'
		// What is only declared reads the same in the declarations, and of a data provider they say all.
		if (!isType && word !== 'const' && !/^(?:testing|providers)\//.test(entry)) sources.add(origin.from)
		const chunk = world.placed.get(origin.from) ?? ''
		const list = byChunk.get(chunk) ?? []
		list.push(`${isType ? 'type ' : ''}${last === name ? name : `${last} as ${name}`}`)
		byChunk.set(chunk, list)
	}
	return [...byChunk].map(([chunk, names]) => ({ chunk, names }))
}

/** Mapped is what comes from a module whose source is there: elsewhere these declarations are all there is to see. */
function chunkOf(world: World, chunk: string, shown: ReadonlySet<string>): Chunk {
	const imports = new Map<string, Set<string>>()
	const lines: string[] = []
	const segments: Segment[][] = []
	const sources: string[] = []
	for (const [name, of] of world.placed) {
		const module = world.read(name)
		if (of !== chunk || module.lines.length === 0) continue
		const source = shown.has(name) ? sources.push(`source/${name}.ts`) - 1 : undefined
		const rename = renames(world, module, chunk, imports)
		for (const { text, at } of module.lines) {
			const edits: { at: number; by: number }[] = []
			lines.push(COMMENT.test(text) ? text : replaced(world, module, text, rename, edits))
			segments.push(source === undefined ? [] : shifted(module.map.line(at), edits, source))
		}
	}
	const heads = [...imports].map(([from, names]) => {
		const all = [...names].filter((name) => name.startsWith('* as '))
		const rest = [...names].filter((name) => !name.startsWith('* as ')).sort()
		const named = rest.length === 0 ? [] : [`import { ${rest.join(', ')} } from '${from}';`]
		return [...all.map((name) => `import ${name} from '${from}';`), ...named]
	})
	const head = heads.flat()
	const text = [...head, ...lines, 'export {};', ''].join('\n')
	const mappings = Mappings.written([...head.map(() => []), ...segments])
	return { text, map: { version: 3, sources, names: [], mappings } }
}

/** The names of a module that are others in the chunk; what the chunk must import is noted. */
function renames(
	world: World,
	module: Module,
	chunk: string,
	imports: Map<string, Set<string>>,
): (local: string) => string {
	const known = new Map<string, string>()
	for (const word of module.words)
		if (/^[A-Z]/.test(word) && world.shown.has(word) && word in globalThis && !isParameter(module, word))
			known.set(word, `globalThis.${word}`)
	for (const own of module.declared.keys()) known.set(own, lastName(world, { from: module.name, name: own }))
	for (const [local, imported] of module.imports) {
		if (!module.words.has(local)) continue
		known.set(local, nameIn(world, imported, local, chunk, imports))
	}
	return (local) => known.get(local) ?? local
}

/** Whether a name is that of a type's parameter. */
function isParameter({ lines }: Module, word: string): boolean {
	const pattern = new RegExp(
		`^(?:export |declare |abstract )*(?:class|interface|type|function) [\\w$]+<[^>]*\\b${word}\\b`,
	)
	return lines.some(({ text }) => pattern.test(text))
}

function nameIn(
	world: World,
	imported: Origin,
	local: string,
	chunk: string,
	imports: Map<string, Set<string>>,
): string {
	const add = (from: string, name: string): void => {
		imports.set(from, (imports.get(from) ?? new Set()).add(name))
	}
	const origin = declarationOf(world, imported)
	if (origin.from.startsWith('node:')) {
		const last = world.shown.has(local) ? `${local}$node` : local
		add(origin.from, origin.name === last ? last : `${origin.name} as ${last}`)
		return last
	}
	const last = lastName(world, origin)
	const other = world.placed.get(origin.from) ?? ''
	if (other !== chunk) add(`./${other}.js`, last)
	return last
}

function replaced(
	world: World,
	module: Module,
	text: string,
	rename: (local: string) => string,
	edits: { at: number; by: number }[],
): string {
	return text.replaceAll(TOKEN, (token, from, name, word, property, at: number) => {
		let last = token
		if (from !== undefined) {
			const origin = { from: join(dirname(module.name), from).replace(/\.[jt]s$/, ''), name }
			last = lastName(world, declarationOf(world, origin))
		} else if (word !== undefined && property === undefined) last = rename(word)
		// The name of a function or constant stands where a property's would.
		else if (
			property !== undefined &&
			/^(?:export )?declare (?:function|const|let) $/.test(text.slice(0, at))
		)
			last = rename(property)
		if (last.length !== token.length) edits.push({ at, by: last.length - token.length })
		return last
	})
}
