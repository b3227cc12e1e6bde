/** `Api`: the calls of `client()`, typed by the methods of a handler's class and its specs. Types only. */
import type { Kinds } from '../validate/inferred.ts'
import type { RuleName } from '../validate/validator.ts'
import type { Id } from './address.ts'
import type { ApiMeta } from './answer.ts'
import type { Answered } from './jsonify.ts'
import type { CallOptions } from './settings.ts'

/**
 * The calls of a handler, by verb and resource: `get_article(id)` becomes `api.get.article(id)`. All public methods are
 * calls, including inherited ones. A custom route is called by its pattern, if `customRoutes` is declared `as const`:
 * `api.get['custom/%s/page/%d']('lawns', 3)`. If `H` is `any`, all calls are `any`.
 */
export type Api<H extends object> = { readonly [V in Verb]: Calls<H, V> }

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'query'

/** If `H` is `any`, any name may be a call. */
type Calls<H, V extends Verb> = unknown extends H
	? H
	: object extends H
		? WrongType
		: H extends Constructor
			? WrongType
			: KnownCalls<H, V>

/** A type whose text appears in the compiler error. */
type WrongType = "write client<Blog>('/blog'): the handler's class, without typeof"
type Constructor = abstract new (...params: never) => unknown

/** Custom routes come first, because they match first. */
type KnownCalls<H, V extends Verb> = RouteCalls<H, RoutesOf<H>, V> & ResourceCalls<H, V>

type ResourceCalls<H, V extends Verb> = {
	readonly [K in keyof H as ResourceOf<K, V>]: Call<H[K], V, SpecOf<H, K>>
}

type ResourceOf<K, V extends Verb> = K extends `${V}_${infer Resource}` ? Exclude<Resource, NoCall> : never

/** Names that JavaScript looks up on any object, and that aren't calls. */
export type NoCall = 'then' | 'catch' | 'finally' | 'toJSON' | 'inspect' | keyof typeof Object.prototype

type Call<M, V extends Verb, S> = M extends (...params: infer P) => infer R
	? TypedCall<V, Segments<P>, S, Answered<R>>
	: never

type TypedCall<V extends Verb, P, S, R> = P extends readonly unknown[]
	? (...args: Args<V, P, S>) => ApiPromise<R>
	: never

type RouteCalls<H, Routes, V extends Verb> = {
	readonly [K in keyof Routes as PatternOf<K, V>]: RouteCall<H, Routes[K], ParamKinds<K>, V>
}

/** A field annotated as `CustomRoutes` has no known patterns. */
type RoutesOf<H> = H extends { readonly customRoutes: infer Routes }
	? string extends keyof Routes
		? unknown
		: Routes
	: unknown

type PatternOf<K, V extends Verb> = K extends `${infer Methods} ${infer Pattern}`
	? HasMethod<Methods, V> extends true
		? WithoutSlash<Pattern>
		: never
	: never

type HasMethod<Methods extends string, V extends Verb> = Methods extends 'ALL'
	? V extends 'query'
		? false
		: true
	: `|${Methods}|` extends `${string}|${Uppercase<V>}|${string}`
		? true
		: false

type WithoutSlash<Pattern> = Pattern extends `/${infer Rest}` ? Rest : Pattern

/** The placeholders of a pattern, in order. */
type ParamKinds<Pattern, Found extends readonly unknown[] = []> = Pattern extends `${string}%${infer Rest}`
	? Rest extends `${infer Kind extends 's' | 'd'}${infer Tail}`
		? ParamKinds<Tail, [...Found, Kind]>
		: Rest extends `%${infer Tail}`
			? ParamKinds<Tail, Found>
			: ParamKinds<Rest, Found>
	: Found

/** If the target isn't the name of a public method, nothing is known about its parameters and result. */
type RouteCall<H, Name, Placeholders extends readonly unknown[], V extends Verb> = Name extends keyof H
	? H[Name] extends (...params: infer P) => infer R
		? TypedCall<V, RouteParams<Placeholders, P>, SpecOf<H, Name>, Answered<R>>
		: never
	: TypedCall<V, RouteParams<Placeholders, []>, unknown, unknown>

/** A value for each placeholder, named like the method's parameters if there are as many. */
type RouteParams<
	Placeholders extends readonly unknown[],
	P extends readonly unknown[],
> = Required<P>['length'] extends Placeholders['length']
	? { [I in keyof P]-?: ParamValue<I extends keyof Placeholders ? Placeholders[I] : 's', P[I]> }
	: { [I in keyof Placeholders]: ParamValue<Placeholders[I], unknown> }

type ParamValue<Kind, T> = Kind extends 'd'
	? OrElse<Segment<Extract<T, number>>, number | bigint>
	: Segment<T>

type OrElse<A, B> = [A] extends [never] ? B : A

type Segments<P extends readonly unknown[]> = { [I in keyof P]: Segment<P[I]> }

/** The values that can be sent for a parameter: any id for a string, or only the literals that its type allows. */
type Segment<T> = unknown extends T
	? Id
	: T extends string
		? IfWide<string, T, Id>
		: T extends number
			? IfWide<number, T, number | bigint>
			: Extract<T, bigint | undefined>

type IfWide<Wide, T, Then> = Wide extends T ? Then : T

type SpecOf<H, Name> = H extends { readonly specs: infer Specs }
	? string extends keyof Specs
		? unknown
		: Name extends keyof Specs
			? Specs[Name]
			: unknown
	: unknown

/** The arguments of a call: a value for each parameter, then options, which are required if `query` or `body` is. */
type Args<V extends Verb, P extends readonly unknown[], S> = V extends 'get'
	? ArgsWith<V, P, GetOptions<QueryOf<S>>, { readonly query: QueryOf<S> }>
	: ArgsWith<V, P, BodyOptions<SpecInput<S>>, { readonly body: SpecInput<S> }>

type QueryOf<S> = InQuery<SpecInput<S>>

/** The fields as parameters of a URL, which can't express null and objects. */
type InQuery<F> = unknown extends F ? QueryFields : { readonly [K in keyof F]: Parameter<F[K]> }
type Parameter<V> = V extends readonly (infer Item)[]
	? readonly Sendable<Item>[]
	: unknown extends V
		? QueryFields[string]
		: Sendable<V>
type Sendable<V> = unknown extends V ? QueryValue : Extract<V, QueryValue | undefined>

type ArgsWith<V extends Verb, P extends readonly unknown[], O, Content> =
	IsRequired<Content[keyof Content]> extends true
		? WithOptions<Prefixes<P>, O & Content>
		: V extends 'get' | 'query'
			? ReadArgs<P, O>
			: Prefixes<P> | WithOptions<Prefixes<P>, O>

type IsRequired<Content> = Record<never, never> extends Content ? false : true

/** Params of a read may be undefined, which omits them. */
type ReadArgs<P extends readonly unknown[], O> = number extends P['length']
	? P | [...P, options: O]
	: P['length'] extends Required<P>['length']
		? [...P, options?: O]
		: [...P, options?: O] | WithOptions<Prefixes<P>, O>

type WithOptions<P, O> = P extends readonly unknown[] ? [...P, options: O] : never

/** The tuples that omit any number of optional params. */
type Prefixes<P extends readonly unknown[]> = number extends P['length']
	? P
	: Shorter<Required<P>, P['length']>

type Shorter<P extends readonly unknown[], Length> = P['length'] extends Length
	? P | (P extends readonly [...infer Head, unknown] ? Shorter<Head, Length> : never)
	: never

/** Options of a GET. */
export interface GetOptions<Query = QueryFields> extends CallOptions {
	readonly query?: Query | undefined
}

/** Options of a call with a method other than GET. */
export interface BodyOptions<Body = unknown> extends CallOptions {
	/** Sent as JSON. */
	readonly body?: Body | undefined
	readonly query?: QueryFields | undefined
	/**
	 * 1 to 255 characters of printable ASCII, new for each intended change. A server that stores keys runs a POST or PATCH
	 * only once per key, so the call can be retried like a read. No effect for other methods.
	 *
	 * @default none: a change is attempted once
	 */
	readonly idempotencyKey?: string | undefined
}

/** Query parameters: undefined ones are left out, an array is sent as a repeated parameter. */
export interface QueryFields {
	readonly [name: string]: QueryValue | readonly QueryValue[] | undefined
}

/** A value in a URL; a Date is sent as an ISO string in UTC. */
export type QueryValue = string | number | bigint | boolean | Date

/** A value, with the rest of the response. */
export interface ApiResponse<T> {
	readonly data: T
	/**
	 * The `meta` of the envelope: for a list `limit`, `offset`, `next` and `total`. Without envelope it is read from the
	 * headers `Link` and `X-Total-Count`. May be empty.
	 */
	readonly meta: ApiMeta
	/** The HTTP status, 200 to 299. */
	readonly status: number
	/** `ETag`, `Location` and so on; across origins, only those that CORS exposes. */
	readonly headers: Headers
}

/** A promise of a call's value. */
export interface ApiPromise<T> extends Promise<T> {
	/**
	 * Resolves to the value with the rest of the same response; sends no other request.
	 *
	 *     const { data, meta, headers } = await api.get.articles().response()
	 */
	response(): Promise<ApiResponse<T>>
}

/**
 * The input that a spec accepts: required fields and optional ones, which include those with a default; or the input
 * type of a Standard Schema. Without `as const`, the compiler doesn't know the rules of a field, which may then have
 * any value.
 *
 *     { title: ['required', 'string'], age: ['integer', { default: 0 }], tags: false }
 *     { readonly title: string; readonly age?: number | undefined; readonly tags?: unknown }
 */
type SpecInput<S> = unknown extends S
	? unknown
	: S extends Schema
		? SchemaInput<S>
		: S extends readonly (infer Name)[]
			? { readonly [K in Name & string]?: unknown }
			: FieldsInput<S>

/** A Standard Schema; `types` is for the compiler. */
interface Schema {
	readonly '~standard': { readonly types?: unknown }
}

type SchemaInput<S extends Schema> =
	NonNullable<S['~standard']['types']> extends { readonly input: infer Input } ? Input : unknown

/** Both parts as one object type, for editors to show. */
type FieldsInput<S> = RequiredFields<S> & OptionalFields<S> extends infer Both
	? { [K in keyof Both]: Both[K] }
	: never

type RequiredFields<S> = {
	readonly [K in keyof S as IsFieldRequired<S[K]> extends true ? K : never]: FieldInput<S[K]>
}
type OptionalFields<S> = {
	readonly [K in keyof S as IsFieldRequired<S[K]> extends true ? never : K]?: FieldInput<S[K]> | undefined
}

type IsFieldRequired<F> = F extends boolean
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

/** The rules of a list as a union; `never` if their type is wide: any string, or all names of rules. */
type Rules<L extends readonly unknown[]> = RuleName extends L[number] ? never : L[number]

type ListInput<L extends readonly unknown[]> =
	| ValueOf<Rules<L>>
	| ('nullable' extends Rules<L> ? null : never)

// As in validate/inferred.ts, each helper distributes over the rules.
type ValueOf<X> = OrElse<InOf<X>, OrElse<ItemsOf<X>, OrElse<NestedOf<X>, OrElse<NamedBy<X>, unknown>>>>
type InOf<X> = X extends { readonly in: readonly (infer V)[] } ? V : never
type ItemsOf<X> = X extends { readonly of: infer Item } ? readonly FieldInput<Item>[] : never
type NestedOf<X> = X extends { readonly fields: infer Fields } ? FieldsInput<Fields> : never
type NamedBy<X> = X extends keyof Inputs ? Inputs[X] : X extends { readonly pattern: RegExp } ? string : never

interface Inputs extends Omit<Kinds, 'datetime' | 'array' | 'object'> {
	/** A `Date` is sent as its text. */
	readonly datetime: string | Date
	readonly array: readonly unknown[]
	readonly object: object
}
