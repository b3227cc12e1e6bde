/** References within a schema, `$ref: '#/$defs/Tag'`, to the schemas that go with it. */
import type { JsonSchema } from './json-schema.ts'

export type Definitions = Readonly<Record<string, JsonSchema>>

/** What a reference names: a definition, and where in it. */
export interface Reference {
	readonly name: string
	/** `/properties/id`; nothing for the definition itself. */
	readonly rest: string
}

const DEFS = '#/$defs/'

/**
 * The definition that a reference names; `undefined` where there is none. Libraries differ in whether they escape its
 * name (RFC 6901 §3, §6): it is looked for as it is written, too.
 */
export function referenceOf(ref: string, isName: (name: string) => boolean): Reference | undefined {
	if (!ref.startsWith(DEFS)) return undefined
	const whole = ref.slice(DEFS.length)
	const [first = ''] = whole.split('/', 1)
	const rest = whole.slice(first.length)
	const candidates: readonly Reference[] = [
		{ name: whole, rest: '' },
		{ name: unescaped(whole), rest: '' },
		{ name: first, rest },
		{ name: unescaped(first), rest },
	]
	return candidates.find(({ name }) => isName(name))
}

/** All references in a schema, as they are written. */
export function referencesIn(value: unknown): string[] {
	if (typeof value !== 'object' || value === null) return []
	return Object.entries(value).flatMap(([key, inner]) =>
		key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
	)
}

/** The definitions that a schema refers to, by itself or by one of them; in their order. */
export function neededBy(schema: JsonSchema, definitions: Definitions): Definitions {
	const isName = (name: string) => Object.hasOwn(definitions, name)
	const found = new Set<string>()
	const open: unknown[] = [schema]
	for (const one of open) {
		for (const ref of referencesIn(one)) {
			const { name } = referenceOf(ref, isName) ?? {}
			if (name === undefined || found.has(name)) continue
			found.add(name)
			open.push(definitions[name])
		}
	}
	return Object.fromEntries(Object.entries(definitions).filter(([name]) => found.has(name)))
}

function unescaped(pointer: string): string {
	try {
		return decodeURIComponent(pointer).replaceAll('~1', '/').replaceAll('~0', '~')
	} catch {
		return pointer
	}
}
