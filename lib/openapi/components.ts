/** `Components`: what the operations of a description share, each thing there once, and named where it is used. */
import {
	type Definitions,
	IN_LIST,
	IN_NAMES,
	IN_ONE,
	type JsonSchema,
	neededBy,
	referenceOf,
} from '../validate/schema/json-schema.ts'

/** A part of the description, as JSON. */
export type Part = Readonly<Record<string, unknown>>

/** Kinds of components, in the order in which they are written. */
const KINDS = ['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'securitySchemes'] as const
type Kind = (typeof KINDS)[number]

/** A part that is written where it was used, or in its place the reference to it, once there is one. */
type SharedPart = { reference: Part | undefined; readonly toJSON: () => Part }

export class Components {
	readonly #kinds: Readonly<Record<Kind, Map<string, Part>>> = {
		schemas: new Map(),
		responses: new Map(),
		parameters: new Map(),
		requestBodies: new Map(),
		headers: new Map(),
		securitySchemes: new Map(),
	}
	/** Names that were given: by kind, wanted name and text, so that none has to be compared with all others. */
	readonly #names = new Map<string, string>()
	/** How far the numbers of a name have come, by kind and name. */
	readonly #counts = new Map<string, number>()
	/** What was asked for by its name alone, by kind and that name. */
	readonly #used = new Map<string, string>()
	/** What may come to be used more than once, by kind, wanted name and text. */
	readonly #shared = new Map<string, SharedPart>()

	/**
	 * A schema in which objects that have a title, and what is under `$defs`, are replaced by references to components.
	 * Two of the same title that differ are told apart by a number: `Article`, `Article2`. The title of a text or a
	 * number is what a form calls it, and names no type.
	 */
	schema(schema: JsonSchema): JsonSchema {
		const { $defs, ...own } = schema
		if ($defs !== undefined) return this.#group(own, isObject($defs) ? neededBy(own, $defs) : {})
		const inner = this.#inner(own)
		const name = typeof schema.title === 'string' && isOfObjects(schema) ? nameOf(schema.title) : ''
		return name === '' ? inner : this.#reference('schemas', name, inner)
	}

	/**
	 * A part that stays where it is as long as it is used once; used again, it is a component, with references to it in
	 * all places. So it is no JSON until the whole description is made, and `JSON.stringify` asks it.
	 */
	shared(kind: Exclude<Kind, 'schemas'>, name: string, part: Part): Part {
		const key = keyOf(kind, name, part)
		const before = this.#shared.get(key)
		if (before !== undefined) {
			before.reference ??= this.#reference(kind, nameOf(name) || 'unnamed', part)
			return before
		}
		const made: SharedPart = { reference: undefined, toJSON: () => made.reference ?? part }
		this.#shared.set(key, made)
		return made
	}

	/** A reference to a component, which is made when it is first named. */
	use(kind: Exclude<Kind, 'schemas'>, name: string, make: () => Part): Part {
		const key = `${kind} ${name}`
		let own = this.#used.get(key)
		if (own === undefined) {
			// A model may be called so too: `NotFound`.
			own = this.#free(kind, nameOf(name) || 'unnamed')
			this.#used.set(key, own)
			this.#kinds[kind].set(own, make())
		}
		return { $ref: `#/components/${kind}/${own}` }
	}

	/** The name of a component; with a number where another one has it already. */
	named(kind: Kind, name: string, part: Part): string {
		const key = keyOf(kind, name, part)
		const before = this.#names.get(key)
		if (before !== undefined) return before
		const free = this.#free(kind, name)
		this.#kinds[kind].set(free, part)
		this.#names.set(key, free)
		return free
	}

	/** All that have something in them. */
	toJSON(): Readonly<Record<string, Readonly<Record<string, Part>>>> {
		const kinds = KINDS.filter((kind) => this.#kinds[kind].size > 0)
		return Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries(this.#kinds[kind])]))
	}

	#reference(kind: Kind, name: string, part: Part): Part {
		return { $ref: `#/components/${kind}/${this.named(kind, name, part)}` }
	}

	/** Schemas in the places where keywords hold some. What is in `default`, `enum` or `const` is a value. */
	#inner(schema: JsonSchema): JsonSchema {
		const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
			if (IN_ONE.has(keyword)) return [keyword, this.#maybe(value)]
			if (IN_LIST.has(keyword) && Array.isArray(value)) return [keyword, value.map((one) => this.#maybe(one))]
			if (!IN_NAMES.has(keyword) || !isObject(value)) return [keyword, value]
			const named = Object.entries(value).map(([name, one]) => [name, this.#maybe(one)])
			return [keyword, Object.fromEntries(named)]
		})
		return Object.fromEntries(entries)
	}

	/** `true` and `false` are schemas as well. */
	#maybe(value: unknown): unknown {
		return isObject(value) ? this.schema(value) : value
	}

	/**
	 * Schemas that name each other get their names before any of them is looked into. One that is the same as before,
	 * with all that it refers to, has the name of before.
	 */
	#group(whole: JsonSchema, definitions: Definitions): JsonSchema {
		const names = new Map<string, string>()
		const added: [string, JsonSchema][] = []
		for (const [name, schema] of Object.entries(definitions)) {
			const key = keyOf('$defs', name, [schema, neededBy(schema, definitions)])
			const before = this.#names.get(key)
			const own = before ?? this.#reserve(name)
			this.#names.set(key, own)
			names.set(name, own)
			if (before === undefined) added.push([own, schema])
		}
		for (const [own, schema] of added) this.#kinds.schemas.set(own, this.#inner(renamed(schema, names)))
		return this.schema(renamed(whole, names))
	}

	/** What libraries number themselves, `__schema0`, `union7`, would get other numbers by a change elsewhere. */
	#reserve(name: string): string {
		const free = this.#free('schemas', /^__|^[a-z]+\d+$/.test(name) ? 'Schema' : nameOf(name) || 'Schema')
		this.#kinds.schemas.set(free, {})
		return free
	}

	/** `Article`, or with the next number, `Article2`. */
	#free(kind: Kind, name: string): string {
		const place = `${kind} ${name}`
		let count = this.#counts.get(place) ?? 1
		const numbered = () => (count === 1 ? name : `${name}${count}`)
		while (this.#kinds[kind].has(numbered())) count++
		this.#counts.set(place, count)
		return numbered()
	}
}

function keyOf(kind: string, name: string, part: unknown): string {
	return JSON.stringify([kind, name, part])
}

/** A schema whose references to `$defs` are references to components. */
function renamed(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
	const isName = (name: string) => names.has(name)
	const walk = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(walk)
		if (!isObject(value)) return value
		const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
			const found = key === '$ref' && typeof inner === 'string' ? referenceOf(inner, isName) : undefined
			if (found === undefined) return [key, walk(inner)]
			return [key, `#/components/schemas/${names.get(found.name)}${found.rest}`]
		})
		return Object.fromEntries(entries)
	}
	return walk(schema) as JsonSchema // the same keywords
}

/** A component's name has letters, digits, `.`, `_` and `-` alone. */
function nameOf(title: string): string {
	return title.replace(/[^A-Za-z0-9._-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
}

function isOfObjects({ type, properties }: JsonSchema): boolean {
	return properties !== undefined || [type].flat().includes('object')
}

function isObject(value: unknown): value is JsonSchema {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}
