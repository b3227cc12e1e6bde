/** The type of what a client receives for a method's result. Types only. */

import type { RestError } from '../base/error.ts'
import type { CustomReply } from '../reply/custom-reply.ts'
import type { Refused } from '../wire/codes.ts'
import type { RawJson } from '../wire/raw-json.ts'

/**
 * The result of a call, from the method's return type: its value after JSON, without refusals.
 *
 *     async get_article(id: string) { return articles.get(id) ?? this.error('No such article', 404) }
 *     Answered<Promise<Article | Refused>>   // Article, with strings for its dates
 */
export type Answered<R> = Sent<Awaited<R>>

type Sent<T> = unknown extends T ? T : T extends CustomReply<infer Value> ? SentValue<Value> : SentValue<T>

/** Results that aren't plain values. Each helper here distributes over unions and keeps `unknown`. */
type SentValue<T> = unknown extends T
	? T
	: T extends Refused | RestError | Unsendable
		? never
		: T extends RawJson | FetchResponse
			? unknown
			: T extends Bytes
				? Blob
				: T extends AsyncIterable<infer Item>
					? Jsonify<Item>[]
					: Jsonify<T>

/** Bytes, and streams of them: Node's, and the web's. */
type Bytes = Uint8Array | { getReader(): unknown } | { pipe(...to: never): unknown; read(): unknown }

/** A fetch `Response`, which is sent as it is: its content is unknown. */
type FetchResponse = { readonly bodyUsed: boolean; readonly headers: object; readonly status: number }

/** Results for which the server answers 500, because JSON would drop their content. */
type Unsendable =
	| NotJson
	| EmptyInJson
	| Blob
	| { [Symbol.iterator](): unknown; next(...value: never): unknown }
/** What JSON can't express. */
type NotJson = bigint | symbol | ((...params: never) => unknown)
/** What JSON writes as `{}`. */
type EmptyInJson = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>

/**
 * A value after `JSON.stringify` and `JSON.parse`: strings for dates, results of `toJSON`, no methods. A field that may
 * be undefined may be absent; `undefined` itself becomes null. `any` and `unknown` are kept.
 */
export type Jsonify<T> = unknown extends T ? T : [T] extends [Plain] ? T : Jsonified<T>

type Jsonified<T> = T extends Plain
	? T
	: T extends { toJSON(...key: never): infer Value }
		? ToJsonResult<Value>
		: Composed<T>

/** The result of `toJSON`, whose own `toJSON` isn't called. */
type ToJsonResult<T> = unknown extends T ? T : T extends Plain ? T : Composed<T>

type Plain = string | number | boolean | null

// biome-ignore lint/suspicious/noConfusingVoidType: the result of a method without return
type Composed<T> = T extends undefined | void
	? null
	: T extends NotJson
		? never
		: T extends readonly unknown[]
			? Items<T>
			: T extends EmptyInJson
				? Record<string, never>
				: Fields<T, Required<T>[keyof T] | Extract<keyof T, symbol>>

/** Only tuples are mapped: for a recursive array a mapped type would be infinite. */
type Items<T extends readonly unknown[]> = T extends readonly (infer Item)[]
	? Item[] extends T
		? T extends unknown[]
			? Jsonify<Item>[]
			: readonly Jsonify<Item>[]
		: { [I in keyof T]: Jsonify<T[I]> }
	: never

/**
 * An object type; `V` is the union of its values' types and of its symbol keys. Records of plain values are kept as
 * they are, so that editors show their names. Objects without anything that JSON drops are mapped in the way that costs
 * the compiler least.
 */
type Fields<T, V> = unknown extends V
	? Merged<T>
	: [V] extends [Plain | readonly Plain[]]
		? T
		: [Extract<V, NotJson | undefined>] extends [never]
			? { [K in keyof T]: Jsonify<Exclude<T[K], undefined>> }
			: Merged<T>

/** Both parts as one object type, for editors to show. */
type Merged<T> = Present<T> & Absent<T> extends infer Both ? { [K in keyof Both]: Both[K] } : never

type Present<T> = { [K in keyof T as JsonKey<T[K], K, never, K>]: Jsonify<T[K]> }
/** The properties that may be undefined, which JSON drops: optional for the client. */
type Absent<T> = { [K in keyof T as JsonKey<T[K], K, K, never>]?: Jsonify<Exclude<T[K], undefined>> }

/** `Maybe` for a value that may be undefined, else `Always`; never for what JSON always drops. */
type JsonKey<V, K, Maybe, Always> = K extends symbol
	? never
	: unknown extends V
		? Always
		: undefined extends V
			? [V] extends [NotJson | undefined]
				? [V] extends [undefined]
					? Maybe
					: never
				: Maybe
			: [V] extends [NotJson]
				? [V] extends [never]
					? Always
					: never
				: Always
