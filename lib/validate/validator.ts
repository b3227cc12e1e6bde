/**
 * The words a spec is written in, and the interface behind them. `getParams` hands each list of rules
 * to a `Validator`; ours is `validate-list.ts`, and another can be put in its place.
 */
import type { Detail } from '../wire/codes.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/** Kinds of string that we know; each also says that the value is a string. Rules: `format.ts`. */
export type Format = 'email' | 'url' | 'uuid' | 'date' | 'datetime'

/** Kinds of value. `number` is finite, `integer` within ±(2^53 − 1), `object` is no array and not null. */
export type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/**
 * A rule that needs no argument. Without `required` a field may be absent; without `nullable` it may
 * not be null, required or not. The others say what the value is: one kind a list, except that
 * `string` may stand beside a format and `number` beside `integer`.
 */
export type RuleName = 'required' | 'nullable' | Kind | Format

/** A value that `in` can compare. Null is said with `nullable`. */
export type Choice = string | number | boolean

/**
 * Rules that take an argument; one object may hold several, each at most once in a list.
 *
 *     ['required', 'string', { min: 1, max: 100 }]
 */
export interface Constraints {
	/**
	 * At least this much: characters of a string, value of a number, items of an array. Characters are
	 * code points, as in JSON Schema and in a database's `varchar(n)`: '👍' is one.
	 */
	readonly min?: number
	/** At most this much, counted as `min` is. */
	readonly max?: number
	/**
	 * Says `string`, and its form. Not tried on strings longer than `max`. It is yours: a pattern that
	 * backtracks can stop the server, so give it a `max` too. Flags `g` and `y` are refused, as such a
	 * pattern remembers its last match from one request to the next.
	 */
	readonly pattern?: RegExp
	/** One of these, compared like `===`. Without a kind, text is coerced to what all of them are. */
	readonly in?: readonly Choice[]
	/** Says `array`, and what each item is. An item can't be absent, so `default` is refused in it. */
	readonly of?: readonly Rule[] | StandardSchemaV1
	/** Says `object`, and what its fields are. Fields that are not named here are dropped. */
	readonly fields?: Fields
	/**
	 * Stands for an absent field; not checked by the other rules. A function is called each time; an
	 * object or array is cloned each time, so that no two requests share it. Refused beside `required`.
	 */
	readonly default?: unknown
}

/**
 * A rule of your own: `true` or `undefined` where the value is fine, else a message for the client.
 * Called when every other rule holds, never for null or an absent field. Anything else that it answers,
 * a promise above all, is a TypeError: a forgotten `await` would let every value pass.
 */
// Written as a method so that a check may name the type which the list's kind has made sure of.
export type Check = { check(value: unknown): string | true | undefined }['check']

/** One entry of a list of rules. */
export type Rule = RuleName | Constraints | Check

/** `true`: required, `false`: optional, neither looked at further; a list of rules; or a schema. */
export type FieldSpec = boolean | readonly Rule[] | StandardSchemaV1

/** Fields by name, kinds of {@link FieldSpec} mixed. */
export interface Fields {
	readonly [name: string]: FieldSpec
}

/** What `getParams` takes: names of fields that may be there, fields, or one schema for the whole. */
export type Spec = readonly string[] | Fields | StandardSchemaV1

/** What became of a value: as it is to be used (`undefined` if absent), or everything wrong with it. */
export type Result =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly problems: readonly Detail[] }

/** How values are read. */
export interface ValidateOptions {
	/**
	 * Whether text stands for other kinds, as in forms and query strings. JSON never does.
	 *
	 * @default false
	 */
	readonly coerce?: boolean
}

/** Checks a value against a list of rules. */
export interface Validator {
	/**
	 * All problems at once, each with its path within the value (empty for the value itself) and never
	 * with the value in it. An absent value is `undefined`. Synchronous.
	 *
	 * @throws TypeError when the rules themselves are wrong
	 */
	validateList(value: unknown, rules: readonly Rule[], options?: ValidateOptions): Result
}
