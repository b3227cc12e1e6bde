/** The types `client()` derives from a handler's class: see `helpers/types.ts`. */
import type { Readable } from 'node:stream'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import {
	type Api,
	type ApiPromise,
	type ApiResponse,
	client,
	type Fetch,
	type Jsonify,
} from '../../lib/client/index.ts'
import {
	CrudHandler,
	type CustomRoutes,
	MemoryModel,
	RawJson,
	type Refused,
	RestError,
	RestHandler,
	reply,
	type Spec,
	type Specs,
} from '../../lib/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

const fetch: Fetch = async () => Response.json({ success: true, data: null })

interface Article {
	readonly id: number
	title: string
	tags: readonly string[]
	about?: string
}

class Parent extends RestHandler {
	get_inherited() {
		return 'yes' as const
	}
}

/** Many kinds of return values. */
class Answers extends Parent {
	async get_article(id: string): Promise<Article | Refused> {
		return this.error(id, 404)
	}
	get_dates() {
		return { at: new Date(0), all: [new Date(0)], pair: [1, new Date(0)] as const }
	}
	get_maybe(): Article | undefined {
		return undefined
	}
	get_void() {}
	get_reply() {
		return reply({ at: new Date(0) }, { status: 201 })
	}
	get_reply_bytes() {
		return reply(Buffer.from(''), { headers: { 'Content-Type': 'text/csv' } })
	}
	get_error() {
		return this.error('never')
	}
	get_either() {
		return Math.random() > 1 ? new RestError('conflict') : 5
	}
	get_raw() {
		return new RawJson('1')
	}
	get_buffer() {
		return Buffer.from('')
	}
	get_readable(): Readable {
		throw new RestError('not_found')
	}
	get_response() {
		return new Response('a', { headers: { 'Content-Type': 'text/plain' } })
	}
	get_web(): ReadableStream {
		throw new RestError('not_found')
	}
	async *get_rows() {
		yield { at: new Date(0) }
	}
	get_map() {
		return new Map([['a', 1]])
	}
	get_blob() {
		return new Blob([])
	}
	get_text_or_bytes(): string | Buffer {
		return ''
	}
	get_maybe_bytes(): Promise<Uint8Array | Refused | undefined> {
		throw new RestError('not_found')
	}
	get_unknown(): unknown {
		return 1
	}
	get_union(): { kind: 'a'; at: Date } | { kind: 'b'; b?: never } {
		return { kind: 'b' }
	}
	protected get_hidden() {
		return 1
	}
	notARoute() {
		return 1
	}
}

/** Many kinds of declarations. */
class Declares extends RestHandler {
	override customRoutes = {
		'GET|POST custom/%s/page-%d': 'page',
		'ALL /every': 'every',
		'DELETE x/%%%s': 'kind',
		'GET part/%s': 'part',
	} as const
	override specs = {
		post_article: {
			title: ['required', 'string'],
			email: ['required', 'email'],
			age: ['integer', { min: 0 }],
			size: ['integer', { default: 5 }],
			kind: [{ in: ['a', 'b'] }],
			when: ['required', 'datetime'],
			tags: ['required', { of: ['string'] }],
			at: [{ fields: { x: ['required', 'number'] } }],
			note: ['required', 'nullable', 'string'],
			any: true,
			maybe: false,
			zip: z.string().optional(),
		},
		put_schema: z.object({ a: z.string(), b: z.number().default(1) }),
		post_valibot: v.object({ a: v.optional(v.string(), 'x') }),
		post_arktype: type({ a: 'string', 'b?': 'number' }),
		patch_names: ['a', 'b'],
		get_search: { q: ['required', 'string'], limit: ['integer'] },
		get_list: { limit: ['integer'] },
		get_many: {
			n: ['nullable', 'integer'],
			o: [{ fields: { q: ['integer'] } }],
			all: [{ of: ['nullable', 'string'] }],
			list: ['array'],
			when: ['datetime'],
			any: false,
		},
		get_schema: z.object({ q: z.string().nullish(), page: z.coerce.number() }),
		page: { note: ['string'] },
	} as const
	post_article() {}
	put_schema(_id: string) {}
	post_valibot() {}
	post_arktype() {}
	patch_names() {}
	get_search() {}
	get_list() {}
	get_many() {}
	get_schema() {}
	post_free() {}
	page(name: string, number: number) {
		return { name, number }
	}
	every() {
		return 1
	}
	kind(_kind: 'x' | 'y') {}
	protected part(id: string) {
		return id
	}
}

/** Many kinds of params. */
class Params extends RestHandler {
	get_optional(a: string, b?: string) {
		return [a, b]
	}
	get_rest(...path: string[]) {
		return path
	}
	get_narrow(kind: 'a' | 'b', id: Branded) {
		return [kind, id]
	}
	delete_optional(_id?: string) {}
	delete_one(_id: string) {}
	get__default(id: string) {
		return id
	}
	query_things() {}
}

type Branded = string & { readonly __brand: 'id' }
type Answer<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>
type Body<F extends (options: never) => unknown> =
	NonNullable<Parameters<F>[0]> extends { readonly body?: infer B } ? B : never

types('client(): types of answers', (say) => {
	say("are those of the method's values, without its refusals", () => {
		type Get = Api<Answers>['get']
		same<Same<Answer<Get['article']>, Article>>()
		same<Same<Answer<Get['inherited']>, 'yes'>>()
		same<Same<Answer<Get['maybe']>, Article | null>>()
		same<Same<Answer<Get['void']>, null>>()
		same<Same<Answer<Get['error']>, never>>()
		same<Same<Answer<Get['either']>, 5>>()
		same<Same<Answer<Get['unknown']>, unknown>>()
	})

	say('are as JSON changes them', () => {
		type Get = Api<Answers>['get']
		same<Same<Answer<Get['dates']>, { at: string; all: string[]; pair: readonly [1, string] }>>()
		same<Same<Answer<Get['reply']>, { at: string }>>()
		same<Same<Answer<Get['rows']>, { at: string }[]>>()
		same<Same<Answer<Get['raw']>, unknown>>()
		same<Same<Answer<Get['map']>, never>>()
		same<Same<Answer<Get['union']>, { kind: 'a'; at: string } | { kind: 'b'; b?: never }>>()
	})

	say('are a Blob for bytes', () => {
		type Get = Api<Answers>['get']
		same<Same<Answer<Get['buffer']>, Blob>>()
		same<Same<Answer<Get['readable']>, Blob>>()
		same<Same<Answer<Get['web']>, Blob>>()
		same<Same<Answer<Get['response']>, unknown>>()
		same<Same<Answer<Get['reply_bytes']>, Blob>>()
		same<Same<Answer<Get['text_or_bytes']>, string | Blob>>()
		same<Same<Answer<Get['maybe_bytes']>, Blob | null>>()
	})

	say('are never where the server cannot send the value', () => {
		type Get = Api<Answers>['get']
		same<Same<Answer<Get['blob']>, never>>()
	})

	say('include meta, status and headers with response()', () => {
		type Call = ReturnType<Api<Answers>['get']['dates']>
		type Dates = { at: string; all: string[]; pair: readonly [1, string] }
		same<Same<Call, ApiPromise<Dates>>>()
		same<Same<Answer<Call['response']>, ApiResponse<Dates>>>()
		type Beside = ApiResponse<5>
		same<Same<Beside['data'], 5>>()
		same<Same<Beside['status'], number>>()
		same<Same<Beside['headers'], Headers>>()
		same<Same<Beside['meta']['next'], string | null | undefined>>()
		same<Same<Beside['meta']['total'], number | undefined>>()
		same<Same<Beside['meta']['took'], unknown>>()
		const call: Promise<Dates> = client<Answers>('/blog', { fetch }).get.dates()
		return call
	})

	say('of any are any', async () => {
		type Anything = ReturnType<typeof JSON.parse> // which is any
		const api = client<Anything>('/blog', { fetch })
		const answer = await api.get.whatever('5', { query: { a: 1 } })
		same<Same<typeof answer, Anything>>()
		same<Same<Api<Anything>['delete'], Anything>>()
	})

	say('of no class, or of a class as a value, are errors that say so', () => {
		type Untold = "write client<Blog>('/blog'): the handler's class, without typeof"
		same<Same<Api<typeof Answers>['get'], Untold>>()
		// @ts-expect-error a class has no calls, its handlers do
		void client<typeof Answers>('/blog', { fetch }).get.dates
		const untold = client('/blog', { fetch })
		same<Same<typeof untold.post, Untold>>()
		// @ts-expect-error of which class is not said
		void untold.get.dates
	})

	say('of a CrudHandler, its further methods are calls', () => {
		class Articles extends CrudHandler {
			constructor() {
				super(new MemoryModel('article', { fields: { id: 'integer' }, key: 'id' }), { visible: 'all' })
			}
			async get_newest() {
				return this.read('5')
			}
			get_stats() {
				return { at: new Date(0) }
			}
		}
		same<Same<keyof Api<Articles>['get'], 'newest' | 'stats'>>()
		same<Same<Answer<Api<Articles>['get']['newest']>, unknown>>()
		same<Same<Answer<Api<Articles>['get']['stats']>, { at: string }>>()
	})

	say('only public methods with the name of a route are calls', () => {
		type Get = Api<Answers>['get']
		same<Same<Extract<'hidden' | 'notARoute' | 'Params' | 'then', keyof Get>, never>>()
		same<Same<keyof Api<Answers>['post'], never>>()
		same<Same<keyof Api<Answers>, 'get' | 'post' | 'put' | 'patch' | 'delete' | 'query'>>()
		const api = client<Answers>('/blog', { fetch })
		// @ts-expect-error a misspelt resource
		void api.get.artcle
		// @ts-expect-error HEAD is a GET without its body
		void api.head
	})
})

types('Jsonify', (say) => {
	interface Tree {
		at: Date
		kids: Tree[]
		next?: Tree
	}
	type Nested = string | Date | Nested[]
	type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
	class Point {
		x = 1
		at = new Date(0)
		private y = 2
		length() {
			return this.x + this.y
		}
	}
	class Money {
		toJSON() {
			return { amount: 5, at: new Date(0) }
		}
	}

	say('dates and objects with toJSON have the type of its result', () => {
		same<Same<Jsonify<Date | null>, string | null>>()
		same<Same<Jsonify<{ a: Money }>, { a: { amount: number; at: string } }>>()
		same<Same<Jsonify<{ a: Buffer }>, { a: { type: 'Buffer'; data: number[] } }>>()
	})

	say('properties that may be undefined are optional, and functions are dropped', () => {
		same<
			Same<Jsonify<{ a: Date | undefined; b?: Date; c(): void; d: () => 1 }>, { a?: string; b?: string }>
		>()
		same<Same<Jsonify<(Date | undefined)[]>, (string | null)[]>>()
		same<Same<Jsonify<Point>, { x: number; at: string }>>()
	})

	say('unknown and any are kept, in fields too', () => {
		type Loose = ReturnType<typeof JSON.parse> // which is any
		same<Same<Jsonify<unknown>, unknown>>()
		same<Same<Jsonify<Loose>, Loose>>()
		same<Same<Jsonify<{ a: Loose; b?: unknown; d: Date }>, { a: Loose; b?: unknown; d: string }>>()
	})

	say('arrays, tuples, records, brands and recursive types are kept', () => {
		same<Same<Jsonify<readonly Date[]>, readonly string[]>>()
		same<Same<Jsonify<[Date, ...Date[]]>, [string, ...string[]]>>()
		same<Same<Jsonify<Record<string, Date>>, Record<string, string>>>()
		same<Same<Jsonify<{ id: Branded; at: Date }>, { id: Branded; at: string }>>()
		same<Same<Jsonify<Json>, Json>>()
		const tree: Jsonify<Tree> = { at: '', kids: [{ at: '', kids: [] }], next: { at: '', kids: [] } }
		const nested: Jsonify<Nested> = ['a', ['b', ['c']]]
		// @ts-expect-error a date is text on the wire
		const wrong: Jsonify<Tree> = { at: new Date(0), kids: [] }
		return [tree, nested, wrong]
	})

	say('types without a JSON form are never, types that JSON empties are empty', () => {
		same<Same<Jsonify<bigint>, never>>()
		same<Same<Jsonify<() => void>, never>>()
		same<
			Same<
				Jsonify<{ a: Map<string, 1>; b: Set<Date> }>,
				{ a: Record<string, never>; b: Record<string, never> }
			>
		>()
	})
})

types('client(): types of params', (say) => {
	const api = client<Params>('/blog', { fetch })

	say('are those of the method', async () => {
		same<Same<Parameters<typeof api.get._default>[0], string | number | bigint>>()
		await api.get._default('5', {})
		await api.get._default(5n)
		await api.get.optional('a')
		await api.get.optional('a', {})
		await api.get.optional('a', undefined, {})
		await api.get.optional('a', 'b', { query: { x: [1, true, new Date(0)] } })
		await api.get.rest()
		await api.get.rest('a', 'b', { signal: undefined })
		await api.get.narrow('a', 'x' as Branded)
		await api.delete.one('a', {})
		await api.delete.optional()
		await api.delete.optional({ body: { why: 1 } })
		await api.delete.optional('a', { idempotencyKey: 'k' })
		await api.query.things({ body: 5 })
	})

	say('are checked', () => {
		const wrong = [
			// @ts-expect-error the id is missing
			() => api.get._default(),
			// @ts-expect-error one too many
			() => api.get._default('a', 'b'),
			// @ts-expect-error nothing is no id
			() => api.get._default(undefined),
			// @ts-expect-error a date is no segment
			() => api.get._default(new Date(0)),
			// @ts-expect-error none of the choices
			() => api.get.narrow('c', 'x' as Branded),
			// @ts-expect-error any text is no branded one
			() => api.get.narrow('a', 'x'),
			// @ts-expect-error a GET has no body
			() => api.get._default('a', { body: 1 }),
			// @ts-expect-error a GET can be repeated as it is
			() => api.get._default('a', { idempotencyKey: 'k' }),
			// @ts-expect-error a misspelt option
			() => api.delete.one('a', { boddy: 1 }),
			// @ts-expect-error DELETE /one is another path
			() => api.delete.optional(undefined),
			// @ts-expect-error an object is no value of a query
			() => api.get._default('a', { query: { x: { y: 1 } } }),
		]
		return wrong
	})
})

types('client(): types of specs', (say) => {
	const api = client<Declares>('/blog', { fetch })

	say("are the body's fields, required ones included", () => {
		same<
			Same<
				Body<typeof api.post.article>,
				{
					readonly title: string
					readonly email: string
					readonly when: string | Date
					readonly tags: readonly string[]
					readonly note: string | null
					readonly any: unknown
					readonly age?: number | undefined
					readonly size?: number | undefined
					readonly kind?: 'a' | 'b' | undefined
					readonly at?: { readonly x: number } | undefined
					readonly maybe?: unknown
					readonly zip?: string | undefined
				}
			>
		>()
		const wrong = [
			// @ts-expect-error title is required
			() => api.post.article({ body: { email: '', when: '', tags: [], note: null, any: 1 } }),
			// @ts-expect-error a body is needed
			() => api.post.article(),
			// @ts-expect-error and here too
			() => api.post.article({}),
			// @ts-expect-error a misspelt field
			() => api.patch.names({ body: { c: 1 } }),
			// @ts-expect-error not the schema's input
			() => api.put.schema('5', { body: { a: 5 } }),
		]
		return wrong
	})

	say('of a schema, the body is its input; of names, anything', async () => {
		await api.put.schema('5', { body: { a: 'x' } })
		same<Same<Body<typeof api.post.valibot>, { a?: string | undefined } | undefined>>()
		same<Same<Body<typeof api.post.arktype>, { a: string; b?: number }>>()
		await api.post.valibot()
		await api.patch.names()
		await api.patch.names({ body: { a: 1 } })
		await api.post.free({ body: [1, 'x'] })
	})

	say("of a GET, are the query's parameters", async () => {
		await api.get.search({ query: { q: 'x', limit: 5 } })
		await api.get.list()
		await api.get.list({ query: { limit: 5 } })
		const wrong = [
			// @ts-expect-error q is required
			() => api.get.search(),
			// @ts-expect-error a number is no text
			() => api.get.search({ query: { q: 5 } }),
			// @ts-expect-error a misspelt parameter
			() => api.get.list({ query: { limt: 5 } }),
		]
		return wrong
	})

	say('of a GET, without null and objects, which a URL cannot express', async () => {
		await api.get.many({
			query: { n: 1, all: ['a'], list: [1, 'a', true], when: new Date(0), any: ['a', 1] },
		})
		await api.get.schema({ query: { q: 'x', page: '2' } })
		const wrong = [
			// @ts-expect-error no null
			() => api.get.many({ query: { n: null } }),
			// @ts-expect-error no object
			() => api.get.many({ query: { o: { q: 1 } } }),
			// @ts-expect-error no null in a list
			() => api.get.many({ query: { all: [null] } }),
			// @ts-expect-error no object in a list
			() => api.get.many({ query: { list: [{}] } }),
			// @ts-expect-error not even where the type isn't known
			() => api.get.many({ query: { any: {} } }),
			// @ts-expect-error nor by a schema
			() => api.get.schema({ query: { q: null, page: 2 } }),
			// @ts-expect-error page is required
			() => api.get.schema({ query: {} }),
		]
		return wrong
	})

	say("are as precise as the spec's declared type", async () => {
		class Wide extends RestHandler {
			override specs = {
				post_wide: { title: ['required', 'string'], age: ['integer'] },
				post_narrow: { title: ['required', 'string'] } satisfies Spec,
			}
			post_wide() {}
			post_narrow() {}
		}
		class Annotated extends RestHandler {
			override specs: Specs = { post_a: { title: ['required', 'string'] } }
			post_a() {}
		}
		const wide = client<Wide>('/blog', { fetch })
		same<
			Same<Body<typeof wide.post.wide>, { readonly title?: unknown; readonly age?: unknown } | undefined>
		>()
		same<Same<Body<typeof wide.post.narrow>, { readonly title: string }>>()
		await wide.post.wide()
		await client<Annotated>('/blog', { fetch }).post.a({ body: 5 })
	})
})

types('client(): types of custom routes', (say) => {
	const api = client<Declares>('/blog', { fetch })

	say('are those of the method, for each verb of the route', async () => {
		same<Same<Answer<(typeof api.get)['custom/%s/page-%d']>, { name: string; number: number }>>()
		await api.get['custom/%s/page-%d']('lawns', 3, { query: { note: 'x' } })
		await api.post['custom/%s/page-%d']('lawns', 3n, { body: { note: 'x' } })
		await api.delete['x/%%%s']('x')
		await Promise.all([
			api.get.every(),
			api.post.every(),
			api.put.every(),
			api.patch.every(),
			api.delete.every(),
		])
		const wrong = [
			// @ts-expect-error the number is missing
			() => api.get['custom/%s/page-%d']('lawns'),
			// @ts-expect-error a text is no number
			() => api.get['custom/%s/page-%d']('lawns', '3'),
			// @ts-expect-error none of the choices
			() => api.delete['x/%%%s']('z'),
			// @ts-expect-error no verb of this route
			() => api.put['custom/%s/page-%d']('lawns', 3),
			// @ts-expect-error ALL is without QUERY
			() => api.query.every(),
			// @ts-expect-error no field of the spec
			() => api.post['custom/%s/page-%d']('lawns', 3, { body: { nte: 'x' } }),
		]
		return wrong
	})

	say('with an untyped method, have the params of their placeholders', () => {
		class Wide extends RestHandler {
			override customRoutes = { 'GET a/%d-%s': 'page' }
			page() {}
		}
		class Annotated extends RestHandler {
			override customRoutes: CustomRoutes = { 'GET a/%d': 'page' }
			page() {}
		}
		const wide = client<Wide>('/blog', { fetch })
		same<Same<Answer<(typeof wide.get)['a/%d-%s']>, unknown>>()
		same<Same<Parameters<(typeof wide.get)['a/%d-%s']>[0], number | bigint>>()
		same<Same<Parameters<(typeof wide.get)['a/%d-%s']>[1], string | number | bigint>>()
		same<Same<Answer<(typeof api.get)['part/%s']>, unknown>>()
		same<Same<keyof Api<Annotated>['get'], never>>()
	})
})
