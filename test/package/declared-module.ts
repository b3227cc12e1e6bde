/** Parses one module's declarations: what it declares, imports and exports. */
import { dirname, join } from 'node:path'
import { Mappings } from './mappings.ts'

/** Where a name comes from: a module of ours, or one of Node's, by the name that it has there. */
export interface Origin {
	readonly from: string
	readonly name: string
}

export interface Module {
	readonly name: string
	/** Lines that are kept: neither imports nor exports of others. */
	readonly lines: readonly { readonly text: string; readonly at: number }[]
	readonly imports: ReadonlyMap<string, Origin>
	readonly exports: ReadonlyMap<string, Origin>
	/** Modules all of whose exports are exported. */
	readonly stars: readonly string[]
	/** What is declared at the top, with its first word: `class`, `interface`. */
	readonly declared: ReadonlyMap<string, string>
	readonly map: Mappings
	/** Every identifier of its code. */
	readonly words: ReadonlySet<string>
}

const DECLARED =
	/^(?:export )?(?:declare )?(?:abstract )?(class|interface|type|const|let|function|enum|namespace) ([\w$]+)/
const FROM = /^(import|export)\s+(type\s+)?(?:\{([^}]*)\}|\* as ([\w$]+)|(\*))\s+from\s+['"]([^'"]+)['"];?$/
const LOCAL = /^export (?:type )?\{([^}]*)\};?$/
/** A line of a comment: tsc writes each with its star. */
export const COMMENT = /^\s*(?:\*|\/\*\*)/
/** Comments and texts, which are left as they are; an `import('…')`; an identifier, with what tells a property's name. */
export const TOKEN =
	/\/\*[\s\S]*?\*\/|\/\/[^\n]*|import\(["']([^"']+)["']\)\.([\w$]+)|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<![\w$])(?<!\.)([A-Za-z_$][\w$]*)(?![\w$]|\??:|\??\()|(?<![\w$.])([A-Za-z_$][\w$]*)/g

/** @throws Error for a statement that tsc doesn't write today */
export function moduleOf(name: string, given: { text: string; map: string }): Module {
	const imports = new Map<string, Origin>()
	const exports = new Map<string, Origin>()
	const stars: string[] = []
	const declared = new Map<string, string>()
	const lines: { text: string; at: number }[] = []
	const resolved = (from: string): string =>
		from.startsWith('.') ? join(dirname(name), from).replace(/\.[jt]s$/, '') : from
	given.text.split('\n').forEach((text, at) => {
		const [, kind, , list, all, star, from = ''] = FROM.exec(text) ?? []
		const [, local] = LOCAL.exec(text) ?? []
		if (kind !== undefined) {
			if (star !== undefined) stars.push(resolved(from))
			if (all !== undefined) imports.set(all, { from, name: '*' })
			const into = kind === 'import' ? imports : exports
			for (const [own, other] of pairs(list)) into.set(other, { from: resolved(from), name: own })
		} else if (local !== undefined) {
			for (const [own, other] of pairs(local)) exports.set(other, { from: name, name: own })
		} else if (!text.startsWith('//# sourceMappingURL') && text !== '') {
			const [, word = '', declares] = DECLARED.exec(text) ?? []
			if (declares !== undefined) {
				declared.set(declares, word)
				if (text.startsWith('export ')) exports.set(declares, { from: name, name: declares })
			} else if (/^(?:import|export|declare)\b/.test(text)) {
				throw new Error(`${name}: this statement is not understood: ${text}`)
			}
			lines.push({ text, at })
		}
	})
	const words = new Set<string>()
	for (const { text } of lines) {
		if (COMMENT.test(text)) continue
		for (const [, , , word] of text.matchAll(TOKEN)) if (word !== undefined) words.add(word)
	}
	return { name, lines, imports, exports, stars, declared, map: new Mappings(given.map), words }
}

/** `A, type B as C` as pairs of names, there and here. */
function pairs(list = ''): [there: string, here: string][] {
	const entries = list.split(',').map((entry) => entry.trim().replace(/^type /, ''))
	return entries.filter(Boolean).map((entry) => {
		const [there = '', here = there] = entry.split(' as ')
		return [there, here]
	})
}

/** The modules that it needs. */
export function needs({ imports, exports, stars, lines, name }: Module): string[] {
	const froms = [...imports.values(), ...exports.values()].map(({ from }) => from)
	const inline = lines.flatMap(({ text }) => [...text.matchAll(/import\(["'](\.[^"']+)["']\)/g)])
	const others = inline.map(([, from = '']) => join(dirname(name), from).replace(/\.[jt]s$/, ''))
	return [...froms, ...stars, ...others].filter((from) => !from.startsWith('node:') && from !== name)
}
