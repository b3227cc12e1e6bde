/**
 * The types of specs and rules, and `Validator`, which checks lists of rules: by default `ruleValidator` of `validate.ts`, or
 * one that the server was created with.
 */
import type { Detail } from '../wire/codes.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/** Formats of strings; each implies `string`. `format.ts` has their definitions. */
export type Format = 'email' | 'url' | 'uuid' | 'date' | 'datetime'

/** Kinds of values. A `number` is finite, an `integer` within ±(2^53 − 1), an `object` neither an array nor null. */
export type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

/**
 * A rule without argument. Without `required` a field may be absent; without `nullable` it must not be null. The other
 * rules name the kind of the value. A list has only one of them, except `string` with a format, and `number` with
 * `integer`.
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
	 * The minimum length of a string, value of a number, or number of items in an array. A string's length is counted in
	 * code points, as in JSON Schema and in a database's `varchar(n)`: '👍' is one.
	 */
	readonly min?: number
	/** The maximum, measured like `min`. */
	readonly max?: number
	/**
	 * Implies `string`. Not tested on strings longer than `max`. Give `max` too: a pattern that backtracks can block the
	 * server. The flags `g` and `y` are refused: such patterns keep the position of their last match between requests.
	 */
	readonly pattern?: RegExp
	/** The allowed values, compared by `===`. Without a kind, texts are converted to the type that all of them have. */
	readonly in?: readonly Choice[]
	/** Implies `array`; the rules of each item. An item is never absent, so `default` is refused in it. */
	readonly of?: readonly Rule[] | StandardSchemaV1
	/** Implies `object`; the specs of its fields. Fields not named here are dropped. */
	readonly fields?: Fields
	/**
	 * The value of an absent field; not checked by the other rules. Functions are called, and objects and arrays cloned, each
	 * time, so that requests don't share them. Refused with `required`.
	 */
	readonly default?: unknown
}

/**
 * A custom rule: returns `true` or `undefined` for a valid value, or else a message for the client. Called after all
 * other rules have passed, and not for null or an absent field. Any other result is a TypeError. That includes
 * promises, which would accept every value.
 */
// Declared as a method, so that a check may declare its parameter with the type that the list's kind ensures.
export type Check = { check(value: unknown): string | true | undefined }['check']

/** One entry of a list of rules. */
export type Rule = RuleName | Constraints | Check

/** `true`: required, and `false`: optional, both without checks; a list of rules; or a schema. */
export type FieldSpec = boolean | readonly Rule[] | StandardSchemaV1

/** Fields by name. */
export interface Fields {
	readonly [name: string]: FieldSpec
}

/** A spec for `getParams`: names of optional fields, fields with rules, or one schema for the whole. */
export type Spec = readonly string[] | Fields | StandardSchemaV1

/** The value to use (`undefined` if absent), or all its problems. */
export type Result =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly problems: readonly Detail[] }

/** How values are read. */
export interface ValidateOptions {
	/** Whether texts are converted to other kinds, as for forms and query strings, but not for JSON. @default false */
	readonly coerce?: boolean
}

/** Checks a value against a list of rules. */
export interface Validator {
	/**
	 * Returns all problems at once, each with its path within the value (empty for the value itself). Messages must not
	 * contain the value. An absent value is `undefined`. Synchronous.
	 *
	 * @throws TypeError when the rules themselves are wrong
	 */
	validateList(value: unknown, rules: readonly Rule[], options?: ValidateOptions): Result
}
