/** The return type of `getParams`, inferred from the spec. Types only. */
import type { StandardSchemaV1 } from './standard-schema.ts'
import type { Constraints, FieldSpec, Fields, Format, Rule, Spec } from './validator.ts'

/**
 * The type of a spec's values. `true` and `false` check no type, so they are `unknown`.
 *
 *     { title: ['required', 'string'], age: ['integer', { min: 0 }], tags: false }
 *     { title: string; age?: number | undefined; tags?: unknown }
 */
export type Params<S extends Spec> =
	S extends StandardSchemaV1<unknown, infer Output>
		? Output
		: S extends readonly (infer Name extends string)[]
			? { [K in Name]?: unknown }
			: S extends Fields
				? FieldsOutput<S>
				: never

/**
 * `S` itself, or a type that `S` isn't assignable to, if an object of rules has an unknown key. Without it, TypeScript would
 * accept `{ min: 1, mx: 2 }`, which extends `Spec`.
 *
 *     getParams<const S extends Spec>(spec: S & KnownKeys<S>): Params<S>
 */
export type KnownKeys<S> = S extends StandardSchemaV1 | readonly string[]
	? S
	: { [K in keyof S]: S[K] extends readonly unknown[] ? KnownRules<S[K]> : S[K] }

type KnownRules<L> = { [I in keyof L]: L[I] extends Rule & object ? KnownRule<L[I]> : L[I] }
type KnownRule<X> = X extends (...args: never) => unknown
	? X
	: {
			[K in keyof X]: K extends keyof Constraints ? KnownArgument<K, X[K]> : never
		}

type KnownArgument<K, V> = K extends 'fields'
	? KnownKeys<V>
	: [K, V] extends ['of', readonly Rule[]]
		? KnownRules<V>
		: V

type FieldsOutput<S extends Fields> = Simplify<
	{ -readonly [K in keyof S as IsPresent<S[K]> extends true ? K : never]: FieldOutput<S[K]> } & {
		-readonly [K in keyof S as IsPresent<S[K]> extends true ? never : K]?: FieldOutput<S[K]> | undefined
	}
>

type Simplify<T> = { [K in keyof T]: T[K] }

/** Whether the field is always present; `boolean` if unknown. */
type IsPresent<F extends FieldSpec> = F extends boolean
	? F
	: F extends StandardSchemaV1<unknown, infer Output>
		? undefined extends Output
			? false
			: true
		: F extends readonly Rule[]
			? IsListPresent<F>
			: false

type IsListPresent<R extends readonly Rule[]> = number extends R['length']
	? false
	: 'required' extends R[number]
		? true
		: Has<R[number], 'default'>

type Has<X, Key extends string> = [Extract<X, { readonly [K in Key]: unknown }>] extends [never]
	? false
	: true

type FieldOutput<F extends FieldSpec> =
	F extends StandardSchemaV1<unknown, infer Output>
		? Output
		: F extends readonly Rule[]
			? WithDefault<ListOutput<F>, DefaultOf<RuleOf<F>>>
			: unknown

/** The rules of a list as a union; none for a list of unknown length, whose rules are unknown too. */
type RuleOf<L extends readonly Rule[]> = number extends L['length'] ? never : L[number]

type ListOutput<L extends readonly Rule[]> =
	| ValueOf<RuleOf<L>>
	| ('nullable' extends RuleOf<L> ? null : never)

// Each helper below distributes over the rules. `Extract<Rules, X> extends X` wouldn't work: if nothing is extracted it
// is `never extends X`, which is true.
type ValueOf<X> = Or<InOf<X>, Or<ItemsOf<X>, Or<NestedOf<X>, Or<NamedBy<X>, unknown>>>>
type Or<A, B> = [A] extends [never] ? B : A

type InOf<X> = X extends { readonly in: readonly (infer V)[] } ? V : never
type ItemsOf<X> = X extends { readonly of: infer Item } ? ItemOf<Item>[] : never
type ItemOf<I> =
	I extends StandardSchemaV1<unknown, infer Output>
		? Output
		: I extends readonly Rule[]
			? ListOutput<I>
			: unknown
type NestedOf<X> = X extends { readonly fields: infer F extends Fields } ? FieldsOutput<F> : never
type NamedBy<X> = X extends keyof Kinds ? Kinds[X] : X extends { readonly pattern: RegExp } ? string : never

/** The types of values by kind and format. */
export interface Kinds extends Record<'string' | Format, string>, Record<'number' | 'integer', number> {
	boolean: boolean
	array: unknown[]
	object: Record<string, unknown>
}

/** No union if the default has the value's type: `string[] | []` would be less useful than `string[]`. */
type WithDefault<V, D> = [D] extends [V] ? V : V | D
type DefaultOf<X> = X extends { readonly default: infer D }
	? D extends (...args: never) => infer Made
		? Made
		: Writable<D>
	: never
/** Removes the `readonly` of `const` inference, because defaults are cloned. */
type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T
