/** What becomes of a method's answer on its way to a client, worked out by the compiler. Types only. */

import type { RestError } from '../base/error.ts'
import type { CustomReply } from '../reply/head.ts'
import type { Refused } from '../wire/codes.ts'
import type { RawJson } from '../wire/raw-json.ts'

/**
 * What a call answers of what its method returns: without what it refuses with, and as JSON has it.
 *
 *     async get_article(id: string) { return articles.get(id) ?? this.error('No such article', 404) }
 *     Answered<Promise<Article | Refused>>   // Article, with texts for its dates
 */
export type Answered<R> = Sent<Awaited<R>>

type Sent<T> = unknown extends T ? T : T extends CustomReply<infer Value> ? SentValue<Value> : SentValue<T>

/** What only a whole answer can be; each helper here distributes over unions, and passes `unknown` on. */
type SentValue<T> = unknown extends T
	? T
	: T extends Refused | RestError | Unsendable
		? never
		: T extends RawJson | Whole
			? unknown
			: T extends Bytes
				? Blob
				: T extends AsyncIterable<infer Item>
					? Jsonify<Item>[]
					: Jsonify<T>

/** Bytes, and streams of them: Node's, and the web's. */
type Bytes = Uint8Array | { getReader(): unknown } | { pipe(...to: never): unknown; read(): unknown }

/** A fetch `Response`, which is answered as it is: it doesn't say what is in it. */
type Whole = { readonly bodyUsed: boolean; readonly headers: object; readonly status: number }

/** What the server answers 500 instead of, as JSON would say nothing of it. */
type Unsendable =
	| Unspeakable
	| Emptied
	| Blob
	| { [Symbol.iterator](): unknown; next(...value: never): unknown }
/** What JSON has no word for. */
type Unspeakable = bigint | symbol | ((...params: never) => unknown)
/** What JSON makes `{}` of. */
type Emptied = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>

/**
 * A value behind `JSON.stringify` and `JSON.parse`: texts for dates, what `toJSON` answers, without methods. A
 * field that may be undefined may be absent; `undefined` itself is null. `any` and `unknown` stay as they are.
 */
export type Jsonify<T> = unknown extends T ? T : [T] extends [Plain] ? T : Jsonified<T>

type Jsonified<T> = T extends Plain
	? T
	: T extends { toJSON(...key: never): infer Told }
		? Written<Told>
		: Composed<T>

/** The same of what `toJSON` has answered, which isn't asked again. */
type Written<T> = unknown extends T ? T : T extends Plain ? T : Composed<T>

type Plain = string | number | boolean | null

// biome-ignore lint/suspicious/noConfusingVoidType: it is what a method without return answers
type Composed<T> = T extends undefined | void
	? null
	: T extends Unspeakable
		? never
		: T extends readonly unknown[]
			? Items<T>
			: T extends Emptied
				? Record<string, never>
				: Fields<T, Required<T>[keyof T] | Extract<keyof T, symbol>>

/** Arrays that aren't tuples are no mapped type: of one that has itself in it, that would have no end. */
type Items<T extends readonly unknown[]> = T extends readonly (infer Item)[]
	? Item[] extends T
		? T extends unknown[]
			? Jsonify<Item>[]
			: readonly Jsonify<Item>[]
		: { [I in keyof T]: Jsonify<T[I]> }
	: never

/**
 * An object, of whose values and symbols `V` is the union. Records of plain values stay what they are, so that
 * editors show them by their names; what has nothing that JSON leaves out costs the compiler the least.
 */
type Fields<T, V> = unknown extends V
	? Kept<T>
	: [V] extends [Plain | readonly Plain[]]
		? T
		: [Extract<V, Unspeakable | undefined>] extends [never]
			? { [K in keyof T]: Jsonify<Exclude<T[K], undefined>> }
			: Kept<T>

/** Both parts as one object, without a name: it is what editors show. */
type Kept<T> = Present<T> & Absent<T> extends infer Both ? { [K in keyof Both]: Both[K] } : never

type Present<T> = { [K in keyof T as KeptKey<T[K], K, never, K>]: Jsonify<T[K]> }
/** What may be undefined, JSON may leave out. */
type Absent<T> = { [K in keyof T as KeptKey<T[K], K, K, never>]?: Jsonify<Exclude<T[K], undefined>> }

/** One of two for a value that may be undefined, and that can't be; never for what JSON always leaves out. */
type KeptKey<V, K, Maybe, Always> = K extends symbol
	? never
	: unknown extends V
		? Always
		: undefined extends V
			? [V] extends [Unspeakable | undefined]
				? [V] extends [undefined]
					? Maybe
					: never
				: Maybe
			: [V] extends [Unspeakable]
				? [V] extends [never]
					? Always
					: never
				: Always
