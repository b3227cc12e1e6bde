/**
 * The types of specs and rules, and `Validator`, which `getParams` calls for each list of rules: ours is
 * `ruleValidator` of `validate.ts`, and a server can be given another.
 */
import type { Detail } from '../wire/codes.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/** Formats of strings; each implies `string`. What they accept: `format.ts`. */
export type Format = 'email' | 'url' | 'uuid' | 'date' | 'datetime'

/** Kinds of value. `number` is finite, `integer` within ±(2^53 − 1), `object` is no array and not null. */
export type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/**
 * A rule without argument. Without `required` a field may be absent; without `nullable` it must not be null. The others
 * name the kind of the value: one for each list, except `string` with a format, and `number` with `integer`.
 */
export type RuleName = 'required' | 'nullable' | Kind | Format

/** A value that `in` can compare; for null there is `nullable`. */
export type Choice = string | number | boolean

/**
 * Rules with an argument. One object may hold several; each may be given once in a list.
 *
 *     ['required', 'string', { min: 1, max: 100 }]
 */
export interface Constraints {
	/**
	 * At least this much: characters of a string, value of a number, items of an array. Characters are
	 * code points, as in JSON Schema and in a database's `varchar(n)`: '👍' is one.
	 */
	readonly min?: number
	/** At most this much, measured like `min`. */
	readonly max?: number
	/**
	 * Implies `string`. Not tested on strings longer than `max`: give one too, as a pattern that backtracks can block
	 * the server. The flags `g` and `y` are refused, because with them a pattern remembers its last match from one
	 * request to the next.
	 */
	readonly pattern?: RegExp
	/** One of these, compared by `===`. Without a kind, text is coerced to the type that all of them have. */
	readonly in?: readonly Choice[]
	/** Implies `array`; the rules of each item. An item is never absent, so `default` is refused in it. */
	readonly of?: readonly Rule[] | StandardSchemaV1
	/** Implies `object`; the specs of its fields. Fields not named here are dropped. */
	readonly fields?: Fields
	/**
	 * The value of an absent field; not checked by the other rules. A function is called and an object or array cloned
	 * each time, so that requests don't share it. Refused with `required`.
	 */
	readonly default?: unknown
}

/**
 * A rule of your own: returns `true` or `undefined` for a valid value, else a message for the client. Called when every
 * other rule holds, never for null or an absent field. Any other result is a TypeError, in particular a promise, which
 * would let every value pass.
 */
// Declared as a method, so that a check may declare its parameter as the type that the list's kind ensures.
export type Check = { check(value: unknown): string | true | undefined }['check']

/** One entry of a list of rules. */
export type Rule = RuleName | Constraints | Check

/** `true`: required; `false`: optional, both without further checks; a list of rules; or a schema. */
export type FieldSpec = boolean | readonly Rule[] | StandardSchemaV1

/** Fields by name. */
export interface Fields {
	readonly [name: string]: FieldSpec
}

/** What `getParams` takes: names of optional fields, fields with specs, or one schema for the whole. */
export type Spec = readonly string[] | Fields | StandardSchemaV1

/** The value to use (`undefined` if absent), or everything wrong with it. */
export type Result =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly problems: readonly Detail[] }

/** How values are read. */
export interface ValidateOptions {
	/**
	 * Whether text may stand for other kinds, as in forms and query strings; never for JSON.
	 *
	 * @default false
	 */
	readonly coerce?: boolean
}

/** Checks a value against a list of rules. */
export interface Validator {
	/**
	 * Returns all problems at once, each with its path within the value (empty for the value itself) and never with the
	 * value in it. An absent value is `undefined`. Synchronous.
	 *
	 * @throws TypeError when the rules themselves are wrong
	 */
	validateList(value: unknown, rules: readonly Rule[], options?: ValidateOptions): Result
}
