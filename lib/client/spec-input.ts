/** What a call may send for a spec that a handler declares, worked out by the compiler. Types only. */
import type { Format, Kind, RuleName } from '../validate/validator.ts'

/**
 * The fields to send so that a spec lets them through: what it requires must be there, what has a default need not
 * be, and of a Standard Schema it is the input. A field whose rules the type doesn't tell, as without `as const`,
 * may have any value.
 *
 *     { title: ['required', 'string'], age: ['integer', { default: 0 }], tags: false }
 *     { readonly title: string; readonly age?: number | undefined; readonly tags?: unknown }
 */
export type SpecInput<S> = unknown extends S
	? unknown
	: S extends Schema
		? SchemaInput<S>
		: S extends readonly (infer Name)[]
			? { readonly [K in Name & string]?: unknown }
			: FieldsInput<S>

/** A Standard Schema; `types` is what its library tells the compiler. */
interface Schema {
	readonly '~standard': { readonly types?: unknown }
}

type SchemaInput<S extends Schema> =
	NonNullable<S['~standard']['types']> extends { readonly input: infer Input } ? Input : unknown

/** Both parts as one object, without a name: it is what editors show. */
type FieldsInput<S> = Needed<S> & Optional<S> extends infer Both ? { [K in keyof Both]: Both[K] } : never

type Needed<S> = { readonly [K in keyof S as IsNeeded<S[K]> extends true ? K : never]: FieldInput<S[K]> }
type Optional<S> = {
	readonly [K in keyof S as IsNeeded<S[K]> extends true ? never : K]?: FieldInput<S[K]> | undefined
}

type IsNeeded<F> = F extends boolean
	? F
	: F extends Schema
		? undefined extends SchemaInput<F>
			? false
			: true
		: F extends readonly unknown[]
			? 'required' extends Rules<F>
				? true
				: false
			: false

type FieldInput<F> = F extends Schema ? SchemaInput<F> : F extends readonly unknown[] ? ListInput<F> : unknown

/** The rules of a list as a union; none where they are of a wide type: any texts, or all names that there are. */
type Rules<L extends readonly unknown[]> = RuleName extends L[number] ? never : L[number]

type ListInput<L extends readonly unknown[]> =
	| ValueOf<Rules<L>>
	| ('nullable' extends Rules<L> ? null : never)

// As in validate/inferred.ts, each helper distributes over the rules.
type ValueOf<X> = Or<InOf<X>, Or<ItemsOf<X>, Or<NestedOf<X>, Or<NamedBy<X>, unknown>>>>
type Or<A, B> = [A] extends [never] ? B : A

type InOf<X> = X extends { readonly in: readonly (infer V)[] } ? V : never
type ItemsOf<X> = X extends { readonly of: infer Item } ? readonly FieldInput<Item>[] : never
type NestedOf<X> = X extends { readonly fields: infer Fields } ? FieldsInput<Fields> : never
type NamedBy<X> = X extends keyof Kinds ? Kinds[X] : X extends { readonly pattern: RegExp } ? string : never

interface Kinds extends Record<Kind | Format, unknown> {
	readonly string: string
	readonly email: string
	readonly url: string
	readonly uuid: string
	readonly date: string
	/** JSON has the text of a `Date`, which is one. */
	readonly datetime: string | Date
	readonly number: number
	readonly integer: number
	readonly boolean: boolean
	readonly array: readonly unknown[]
	readonly object: object
}
