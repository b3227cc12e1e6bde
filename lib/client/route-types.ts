/** `Api`: the calls of `client()`, typed by the methods of a handler's class and its specs. Types only. */
import type { Format, Kind, RuleName } from '../validate/validator.ts'
import type { Id } from './address.ts'
import type { ApiMeta } from './answer.ts'
import type { Answered } from './jsonify.ts'
import type { CallOptions } from './settings.ts'

/**
 * The calls that a handler answers, by verb and resource: `get_article(id)` is `api.get.article(id)`. Public methods
 * count, inherited ones too; `private` and `protected` ones can't be seen. A custom route is called by its pattern,
 * where its field says so by `as const`: `api.get['custom/%s/page/%d']('lawns', 3)`. Of `any`, all calls are `any`.
 */
export interface Api<H extends object> {
	readonly get: Calls<H, 'get'>
	readonly post: Calls<H, 'post'>
	readonly put: Calls<H, 'put'>
	readonly patch: Calls<H, 'patch'>
	readonly delete: Calls<H, 'delete'>
	readonly query: Calls<H, 'query'>
}

export type Verb = keyof Api<object>

/** Of `any`, which alone may be anything, nothing is known: any name may be a call. */
type Calls<H, V extends Verb> = unknown extends H
	? H
	: object extends H
		? Untold
		: H extends Constructor
			? Untold
			: KnownCalls<H, V>

/** Its text is in the compiler's error, where a call is looked for. */
type Untold = "write client<Blog>('/blog'): the handler's class, without typeof"
type Constructor = abstract new (...params: never) => unknown

/** Custom routes stand first, as they are tried first. */
type KnownCalls<H, V extends Verb> = RouteCalls<H, RoutesOf<H>, V> & ResourceCalls<H, V>

type ResourceCalls<H, V extends Verb> = {
	readonly [K in keyof H as ResourceOf<K, V>]: Call<H[K], V, SpecOf<H, K>>
}

type ResourceOf<K, V extends Verb> = K extends `${V}_${infer Resource}` ? Exclude<Resource, NoCall> : never

/** What JavaScript asks of any object: by these names nothing is called. */
export type NoCall = 'then' | 'catch' | 'finally' | 'toJSON' | 'inspect' | 'constructor' | ObjectMethod

type ObjectMethod =
	| 'toString'
	| 'toLocaleString'
	| 'valueOf'
	| 'hasOwnProperty'
	| 'isPrototypeOf'
	| 'propertyIsEnumerable'

type Call<M, V extends Verb, S> = M extends (...params: infer P) => infer R
	? TypedCall<V, Segments<P>, S, Answered<R>>
	: never

type TypedCall<V extends Verb, P, S, R> = P extends readonly unknown[]
	? (...args: Args<V, P, S>) => ApiPromise<R>
	: never

type RouteCalls<H, Routes, V extends Verb> = {
	readonly [K in keyof Routes as PatternOf<K, V>]: RouteCall<H, Routes[K], Slots<K>, V>
}

/** Routes of an annotated field, `CustomRoutes`, have no names. */
type RoutesOf<H> = H extends { readonly customRoutes: infer Routes }
	? string extends keyof Routes
		? unknown
		: Routes
	: unknown

type PatternOf<K, V extends Verb> = K extends `${infer Methods} ${infer Pattern}`
	? Answers<Methods, V> extends true
		? WithoutSlash<Pattern>
		: never
	: never

type Answers<Methods extends string, V extends Verb> = Methods extends 'ALL'
	? V extends 'query'
		? false
		: true
	: `|${Methods}|` extends `${string}|${Uppercase<V>}|${string}`
		? true
		: false

type WithoutSlash<Pattern> = Pattern extends `/${infer Rest}` ? Rest : Pattern

/** The placeholders of a pattern, in their order. */
type Slots<Pattern, Found extends readonly unknown[] = []> = Pattern extends `${string}%${infer Rest}`
	? Rest extends `${infer Kind extends 's' | 'd'}${infer Tail}`
		? Slots<Tail, [...Found, Kind]>
		: Rest extends `%${infer Tail}`
			? Slots<Tail, Found>
			: Slots<Rest, Found>
	: Found

/** A target that isn't named, or isn't public, is one of which nothing is known. */
type RouteCall<H, Name, Placeholders extends readonly unknown[], V extends Verb> = Name extends keyof H
	? H[Name] extends (...params: infer P) => infer R
		? TypedCall<V, Filled<Placeholders, P>, SpecOf<H, Name>, Answered<R>>
		: never
	: TypedCall<V, Filled<Placeholders, []>, unknown, unknown>

/** One value for each placeholder, called as the method's parameters are where there are as many. */
type Filled<
	Placeholders extends readonly unknown[],
	P extends readonly unknown[],
> = Required<P>['length'] extends Placeholders['length']
	? { [I in keyof P]-?: Slot<I extends keyof Placeholders ? Placeholders[I] : 's', P[I]> }
	: { [I in keyof Placeholders]: Slot<Placeholders[I], unknown> }

type Slot<Kind, T> = Kind extends 'd' ? Or<Segment<Extract<T, number>>, number | bigint> : Segment<T>

type Or<A, B> = [A] extends [never] ? B : A

type Segments<P extends readonly unknown[]> = { [I in keyof P]: Segment<P[I]> }

/** What stands for a parameter in a URL: any id for a text, but nothing else than what it is narrowed to. */
type Segment<T> = unknown extends T
	? Id
	: T extends string
		? Wide<string, T, Id>
		: T extends number
			? Wide<number, T, number | bigint>
			: Extract<T, bigint | undefined>

type Wide<Whole, T, Taken> = Whole extends T ? Taken : T

type SpecOf<H, Name> = H extends { readonly specs: infer Specs }
	? string extends keyof Specs
		? unknown
		: Name extends keyof Specs
			? Specs[Name]
			: unknown
	: unknown

/** What a call takes: a value for each parameter, then the options, which are needed where their content is. */
type Args<V extends Verb, P extends readonly unknown[], S> = V extends 'get'
	? ArgsWith<V, P, GetOptions<QueryOf<S>>, { readonly query: QueryOf<S> }>
	: ArgsWith<V, P, BodyOptions<SpecInput<S>>, { readonly body: SpecInput<S> }>

type QueryOf<S> = unknown extends S ? QueryFields : SpecInput<S>

type ArgsWith<V extends Verb, P extends readonly unknown[], O, Content> =
	IsNeeded<Content[keyof Content]> extends true
		? WithOptions<Lengths<P>, O & Content>
		: V extends 'get' | 'query'
			? SafeArgs<P, O>
			: Lengths<P> | WithOptions<Lengths<P>, O>

type IsNeeded<Content> = Record<never, never> extends Content ? false : true

/** Of a read, parameters that are undefined are left out. */
type SafeArgs<P extends readonly unknown[], O> = number extends P['length']
	? P | [...P, options: O]
	: P['length'] extends Required<P>['length']
		? [...P, options?: O]
		: [...P, options?: O] | WithOptions<Lengths<P>, O>

type WithOptions<P, O> = P extends readonly unknown[] ? [...P, options: O] : never

/** Parameters, once for each number of them that may be given. */
type Lengths<P extends readonly unknown[]> = number extends P['length']
	? P
	: Shorter<Required<P>, P['length']>

type Shorter<P extends readonly unknown[], Length> = P['length'] extends Length
	? P | (P extends readonly [...infer Head, unknown] ? Shorter<Head, Length> : never)
	: never

/** What a GET has beside its path. */
export interface GetOptions<Query = QueryFields> extends CallOptions {
	readonly query?: Query | undefined
}

/** What a call of another method has beside its path. */
export interface BodyOptions<Body = unknown> extends CallOptions {
	/** Sent as JSON. */
	readonly body?: Body | undefined
	readonly query?: QueryFields | undefined
	/**
	 * 1 to 255 characters of printable ASCII, new for each purpose. Of a POST and a PATCH, which a server that keeps
	 * such keys runs once, however often it is asked: the call is tried again as a read is. It says nothing elsewhere.
	 *
	 * @default none: what changes something is tried once
	 */
	readonly idempotencyKey?: string | undefined
}

/** Parameters of a URL: one that is undefined is left out, an array is sent as so many. */
export interface QueryFields {
	readonly [name: string]: QueryValue | readonly QueryValue[] | undefined
}

/** What can stand in a URL: a Date as its text in UTC. */
export type QueryValue = string | number | bigint | boolean | Date

/** A value, and what came beside it. */
export interface ApiResponse<T> {
	readonly data: T
	/**
	 * The `meta` of the envelope: of a list `limit`, `offset`, `next` and `total`. Without envelope it comes from the
	 * headers `Link` and `X-Total-Count`. Empty where there is none.
	 */
	readonly meta: ApiMeta
	/** The HTTP status, 200 to 299. */
	readonly status: number
	/** `ETag`, `Location`, and so on; across origins, those that CORS exposes. */
	readonly headers: Headers
}

/** A promise of a call's value. */
export interface ApiPromise<T> extends Promise<T> {
	/**
	 * The value with what came beside it. It is the same call: nothing is asked again.
	 *
	 *     const { data, meta, headers } = await api.get.articles().response()
	 */
	response(): Promise<ApiResponse<T>>
}

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

type Needed<S> = { readonly [K in keyof S as IsFieldNeeded<S[K]> extends true ? K : never]: FieldInput<S[K]> }
type Optional<S> = {
	readonly [K in keyof S as IsFieldNeeded<S[K]> extends true ? never : K]?: FieldInput<S[K]> | undefined
}

type IsFieldNeeded<F> = F extends boolean
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
