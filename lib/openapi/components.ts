/** `Components`: the parts that operations share, each written once and referenced. */
import {
	type Definitions,
	IN_LIST,
	IN_NAMES,
	IN_ONE,
	isSchema,
	type JsonSchema,
	neededBy,
	RECURSIVE,
	redirected,
	referenceOf,
} from '../validate/schema/json-schema.ts'

/** A part of the description, as JSON. */
export type Part = Readonly<Record<string, unknown>>

/** Kinds of components, in the order in which they are written. */
const KINDS = ['schemas', 'responses', 'parameters', 'requestBodies', 'headers', 'securitySchemes'] as const
type Kind = (typeof KINDS)[number]

type ByKind = Readonly<Record<Kind, Map<string, Part>>>

/** A part that is inline until it is used again; then it becomes a reference. */
type SharedPart = { reference: Part | undefined; readonly toJSON: () => Part }

export class Components {
	readonly #kinds = Object.fromEntries(KINDS.map((kind) => [kind, new Map<string, Part>()])) as ByKind
	/** Component names by kind, requested name and JSON, to find equal parts. */
	readonly #names = new Map<string, string>()
	/** The last number appended to a name, by kind and name. */
	readonly #counts = new Map<string, number>()
	/** Component names of the parts made by `use`, by kind and requested name. */
	readonly #used = new Map<string, string>()
	/** References to schemas that may contain themselves. */
	readonly #recursive = new Map<JsonSchema, Part>()
	/** Parts of `shared`, by kind, requested name and JSON. */
	readonly #shared = new Map<string, SharedPart>()

	/**
	 * Replaces objects with a title, and everything under `$defs`, by references to components. Different ones with the
	 * same title are numbered: `Article`, `Article2`. Titles of strings and numbers are labels for forms, not type names.
	 */
	schema(schema: JsonSchema): JsonSchema {
		if (schema[RECURSIVE] === true) return this.#recursiveReference(schema)
		const { $defs, ...own } = schema
		if ($defs !== undefined) return this.#withDefinitions(own, isSchema($defs) ? neededBy(own, $defs) : {})
		const inner = this.#inner(own)
		const name = typeof schema.title === 'string' && isOfObjects(schema) ? nameOf(schema.title) : ''
		return name === '' ? inner : this.#reference('schemas', name, inner)
	}

	/**
	 * A part that is inline if it is used once, and a component if it is used again. That is only known at the end, so
	 * `toJSON` decides.
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

	/** A reference to a component, which is made on first use. */
	use(kind: Exclude<Kind, 'schemas'>, name: string, make: () => Part): Part {
		const key = `${kind} ${name}`
		let own = this.#used.get(key)
		if (own === undefined) {
			// The name may be taken, for example by a model `NotFound`.
			own = this.#free(kind, nameOf(name) || 'unnamed')
			this.#used.set(key, own)
			this.#kinds[kind].set(own, make())
		}
		return { $ref: `#/components/${kind}/${own}` }
	}

	/** Adds a component and returns its name, which is numbered if a different one has it. */
	named(kind: Kind, name: string, part: Part): string {
		const key = keyOf(kind, name, part)
		const before = this.#names.get(key)
		if (before !== undefined) return before
		const free = this.#free(kind, name)
		this.#kinds[kind].set(free, part)
		this.#names.set(key, free)
		return free
	}

	/** All kinds that aren't empty. */
	toJSON(): Readonly<Record<string, Readonly<Record<string, Part>>>> {
		const kinds = KINDS.filter((kind) => this.#kinds[kind].size > 0)
		return Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries(this.#kinds[kind])]))
	}

	#reference(kind: Kind, name: string, part: Part): Part {
		return { $ref: `#/components/${kind}/${this.named(kind, name, part)}` }
	}

	/** Named before its contents are processed, because it may contain itself. */
	#recursiveReference(schema: JsonSchema): Part {
		const before = this.#recursive.get(schema)
		if (before !== undefined) return before
		const name = this.#reserve(schema.title ?? '')
		const reference = { $ref: `#/components/schemas/${name}` }
		this.#recursive.set(schema, reference)
		this.#kinds.schemas.set(name, this.#inner(schema))
		return reference
	}

	/** Replaces schemas inside keywords that hold schemas; `default`, `enum` and `const` hold values. */
	#inner(schema: JsonSchema): JsonSchema {
		const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
			if (IN_ONE.has(keyword)) return [keyword, this.#subschema(value)]
			if (IN_LIST.has(keyword) && Array.isArray(value))
				return [keyword, value.map((one) => this.#subschema(one))]
			if (!IN_NAMES.has(keyword) || !isSchema(value)) return [keyword, value]
			const named = Object.entries(value).map(([name, one]) => [name, this.#subschema(one)])
			return [keyword, Object.fromEntries(named)]
		})
		return Object.fromEntries(entries)
	}

	/** `true` and `false` are schemas, too. */
	#subschema(value: unknown): unknown {
		return isSchema(value) ? this.schema(value) : value
	}

	/**
	 * Replaces `$defs` by components. Definitions may refer to each other, so all are named before any is processed. A
	 * definition that equals an earlier one, including all definitions that it refers to, shares its name.
	 */
	#withDefinitions(whole: JsonSchema, definitions: Definitions): JsonSchema {
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

	/** Generated names, `__schema0`, `union7`, become `Schema`, because their numbers change with edits elsewhere. */
	#reserve(name: string): string {
		const free = this.#free('schemas', /^__|^[a-z]+\d+$/.test(name) ? 'Schema' : nameOf(name) || 'Schema')
		this.#kinds.schemas.set(free, {})
		return free
	}

	/** `Article`, or the next free number: `Article2`. */
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

/** Turns references to `$defs` into references to components. */
function renamed(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
	return redirected(schema, (ref) => {
		const found = referenceOf(ref, (name) => names.has(name))
		return found === undefined ? ref : `#/components/schemas/${names.get(found.name)}${found.rest}`
	})
}

/** A valid component name: letters, digits, `.`, `_` and `-`. */
function nameOf(title: string): string {
	return title.replace(/[^A-Za-z0-9._-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
}

function isOfObjects({ type, properties }: JsonSchema): boolean {
	return properties !== undefined || [type].flat().includes('object')
}
