/** Names with text values, as forms, multipart bodies and queries carry them; a name may be repeated. */
import { RestError } from '../../base/error.ts'

/**
 * What a form or query holds.
 *
 *     a=1&b=2&a=3   →   last: { a: '3', b: '2' },  all('a'): ['1', '3'],  all('c'): []
 */
export class Fields {
	/** The last value of each name. Without prototype, so that a name can't hit an inherited property. */
	readonly last: Readonly<Record<string, string>>
	readonly #last: Record<string, string>
	/** Only the names that came more than once, which few forms have. */
	#repeated: Map<string, string[]> | undefined

	constructor() {
		this.#last = Object.create(null) as Record<string, string>
		this.last = this.#last
	}

	/** Every value of a name, in the order they came; none is an empty array. */
	all(name: string): string[] {
		const repeated = this.#repeated?.get(name)
		if (repeated !== undefined) return [...repeated]
		const only = this.#last[name]
		return only === undefined ? [] : [only]
	}

	/** Adds one value. The caller has refused {@link RESERVED_NAME}. */
	add(name: string, value: string): void {
		const earlier = this.#last[name]
		if (earlier !== undefined) this.#repeat(name, earlier, value)
		this.#last[name] = value
	}

	/** The last value of each name, but all of them, as a list, where a name came more than once. */
	lists(): Readonly<Record<string, string | readonly string[]>> {
		if (this.#repeated === undefined) return this.last
		return Object.assign(Object.create(null), this.last, Object.fromEntries(this.#repeated))
	}

	#repeat(name: string, earlier: string, value: string): void {
		this.#repeated ??= new Map()
		const values = this.#repeated.get(name)
		if (values === undefined) this.#repeated.set(name, [earlier, value])
		else values.push(value)
	}
}

/** The one name that is dangerous to copy: `target['__proto__'] = …` sets a prototype. */
export const RESERVED_NAME = '__proto__'

/** The refusal of {@link RESERVED_NAME}: `bad_request`. `where` begins its message: `Query parameter 3`. */
export function reservedName(where: string): RestError {
	return new RestError('bad_request', `${where} is named ${RESERVED_NAME}, which is reserved`)
}
