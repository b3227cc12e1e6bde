/**
 * Access, scope, hidden fields and rules apply to lists as to single records: for each rule, caller and record, a list with the
 * record in second place gets the response of a request for it alone, plus its index, and stores nothing if refused.
 */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOptions,
	type CrudScope,
	type CrudValues,
	createServer,
	type Model,
	type Server,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store } from '../over/stores.ts'
import { allRows } from '../over/things.ts'

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'stock', 'code', 'owner', 'version'],
	creatable: ['id', 'title', 'stock', 'code', 'owner', 'pin', 'parent'],
	updatable: ['title', 'stock', 'code', 'owner', 'pin', 'parent'],
	rules: { stock: ['integer', { min: 0 }] },
	allow: ['list', 'read', 'create', 'update', 'remove', 'createMany', 'updateMany', 'removeMany', 'totals'],
	totals: { by: ['title', 'owner'], of: ['stock'] },
	version: 'version',
}
const ID = { fields: ['id'], names: ['id'], version: undefined }

/** Everybody may do everything; others narrow it. */
class Rule extends CrudHandler {
	override authenticator = {
		authenticate: ({ headers }: { headers: Record<string, unknown> }) =>
			headers.user === undefined ? null : { id: String(headers.user), roles: [String(headers.user)] },
	}
}

const RULES: Readonly<Record<string, typeof CrudHandler>> = {
	'no rule': Rule,
	'access to users only': class extends Rule {
		override access = { '*': 'user' }
	},
	'access to reads only': class extends Rule {
		override access = { list: 'anyone', read: 'anyone', totals: 'anyone', '*': 'user' }
	},
	'a scope of the owner': class extends Rule {
		override scope(): CrudScope {
			return { owner: this.user?.id ?? 'nobody' }
		}
	},
	'a scope by operation': class extends Rule {
		override scope(operation: string): CrudScope {
			return ['list', 'read', 'totals'].includes(operation) ? {} : { owner: this.user?.id ?? 'nobody' }
		}
	},
	'a scope with a choice': class extends Rule {
		override scope(): CrudScope {
			return { or: [{ owner: this.user?.id ?? 'nobody' }, { stock: { gte: 5 } }] }
		}
	},
	'a scope that nothing fits': class extends Rule {
		override scope(): CrudScope {
			return { or: [] }
		}
	},
	'fields that are hidden and read only': class extends Rule {
		override fields() {
			return this.user?.id === 'ada' ? {} : { hidden: ['code', 'pin'], readOnly: ['stock'] }
		}
	},
	'an override that refuses': class extends Rule {
		override async create(values: CrudValues) {
			return values.title === 'x' ? this.error('Not this title', 409) : super.create(values)
		}

		override async update(id: string, values: CrudValues) {
			return values.title === 'x' ? this.error('Not this title', 409) : super.update(id, values)
		}
	},
}

type Caller = 'ada' | 'bob' | undefined

/** Callers between whom a rule differs. */
const CALLERS: Readonly<Record<string, readonly Caller[]>> = {
	'no rule': [undefined],
	'access to users only': [undefined, 'ada'],
	'access to reads only': [undefined, 'ada'],
	'a scope that nothing fits': [undefined],
	'fields that are hidden and read only': ['ada', 'bob'],
	'an override that refuses': [undefined],
}
const ALL: readonly Caller[] = [undefined, 'ada', 'bob']

/** What the second record of a list is, by the ids of Ada's two records and Bob's. */
const CREATED: readonly object[] = [
	...[
		{ title: 'x' },
		{ title: 'n', stock: 3 },
		{ title: 'n', stock: -1 },
		{ title: 'n', stock: 5, owner: 'bob' },
	],
	...[
		{ title: 'n', owner: 'ada' },
		{ title: 'n', owner: 'bob' },
		{ title: 'n', code: 'code a' },
	],
	...[{ title: 'n', pin: 'pin b' }, { title: 'n', secret: 's' }, { title: 'n', version: 3 }, { stock: 1 }],
	...[{ title: 'n', parent: 987_654 }, { title: null }, { title: 7 }, {}],
]
const CHANGED: readonly (readonly [record: 'a' | 'b' | 'missing', values: object, version?: number])[] = [
	...(['a', 'b', 'missing'] as const)
		.flatMap((record): [typeof record, object, number?][] => [
			[record, { title: 'x' }],
			[record, { title: 'n' }, 1],
			[record, { title: 'n' }, 9],
			[record, {}],
			[record, {}, 9],
			[record, { owner: 'bob' }],
			[record, { owner: 'ada', stock: 4 }],
			[record, { stock: -1 }],
			[record, { stock: 5 }],
			[record, { code: 'code own' }],
			[record, { pin: 'pin own' }],
			[record, { secret: 's' }],
			[record, { parent: 987_654 }],
		])
		.filter(([record], at) => record !== 'missing' || at % 4 === 0),
]

interface Told {
	readonly status: number
	readonly error: string | undefined
	readonly places: readonly string[]
	readonly data: unknown
}

for (const name of ['memory', 'sqlite'] as const)
	describe(`many at once as single records over ${name}`, (test) => {
		let store: Store
		let model: Model
		let ids: Record<'own' | 'a' | 'b' | 'missing', number>
		test.before(async () => {
			store = await openStore(name, 'singles')
		})
		test.after(() => store.close())

		/** For whom the store has been filled, while no request has changed it since. */
		let isFilledFor: string | undefined
		/** `own` is the caller's, which each list begins with. */
		const filled = async (caller: string | undefined) => {
			const owner = caller ?? 'nobody'
			if (isFilledFor === owner) return
			isFilledFor = owner
			model = await store.emptied()
			const of = async (title: string, owner: string, stock: number) =>
				Number(
					(await model.create({ title, owner, stock, code: `code ${title}`, pin: `pin ${title}` }, ID)).id,
				)
			ids = {
				own: await of('own', owner, 1),
				a: await of('a', 'ada', 2),
				b: await of('b', 'bob', 7),
				missing: 987_654_321,
			}
		}
		let served:
			| { readonly server: Server; readonly Class: typeof CrudHandler; readonly of: Model }
			| undefined
		const asking = (Class: typeof CrudHandler, caller: string | undefined) => {
			if (served?.Class !== Class || served.of !== model) {
				const logger = { info() {}, warn() {}, error() {} }
				served = { server: createServer({ api: new Class(model, OPTIONS) }, { logger }), Class, of: model }
			}
			const { server } = served
			return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
				const user: Record<string, string> = caller === undefined ? {} : { user: caller }
				const reply = await server.inject({
					method,
					url: `/api${path}`,
					body,
					headers: { ...user, ...headers },
				})
				if (method !== 'GET' && reply.status < 300) isFilledFor = undefined
				const {
					data,
					error,
					details = [],
				} = reply.json() as {
					data?: unknown
					error?: string
					details?: { field: string; code: string }[]
				}
				const places = details.map(({ field, code }) => `${field} ${code}`)
				return { status: reply.status, data, error, places } satisfies Told
			}
		}
		/** Fails unless the list answers as the request for its second record does. */
		const assertAlike = (list: Told, single: Told, what: string) => {
			const is = `${what}: ${JSON.stringify([list, single])}`
			assert.is(list.status, single.status === 201 ? 201 : single.status, is)
			if (single.status < 300) return
			const isRequest = single.status === 401 || single.status === 405
			if (isRequest || list.places.length === 0) return assert.is(list.error, single.error, is)
			if (single.places.length > 0)
				assert.equal(
					list.places,
					single.places.map((one) => `1.${one}`),
					is,
				)
			else
				assert.ok(
					list.places.every((place) => place.startsWith('1 ')),
					is,
				)
			assert.ok(list.error?.startsWith('1'), is)
			assert.ok(list.error?.endsWith(single.error ?? ''), is)
		}

		for (const [rule, Class] of Object.entries(RULES))
			for (const caller of CALLERS[rule] ?? ALL) {
				const who = `${rule}, ${caller ?? 'anonymous'}`
				const ask = (method: string, path: string, body?: unknown, headers = {}) =>
					asking(Class, caller)(method, path, body, headers)
				let isFirst: boolean | undefined
				/** Sends it alone, and behind a record that the caller may write, unless there is none. */
				const compare = async (
					what: string,
					records: () => readonly [first: object, second: object],
					single: () => Promise<Told>,
					list: (records: object[]) => Promise<Told>,
				) => {
					await filled(caller)
					const told = await single()
					if (isFirst === undefined) {
						await filled(caller)
						isFirst = (await list([records()[0]])).status < 300
					}
					await filled(caller)
					const before = await allRows(model)
					const answer = await list(isFirst ? [...records()] : [records()[1]])
					if (isFirst) assertAlike(answer, told, `${who}: ${what}`)
					else assert.is(answer.status, told.status, `${who}: ${what}: ${answer.error}`)
					const after = await allRows(model)
					if (answer.status >= 300) assert.equal(after, before, what)
				}

				test(`createMany: ${who}`, async () => {
					isFirst = undefined
					for (const body of CREATED)
						await compare(
							JSON.stringify(body),
							() => [{ title: 'first' }, body],
							() => ask('POST', '', body),
							(records) => ask('POST', '', records),
						)
				})

				test(`updateMany: ${who}`, async () => {
					isFirst = undefined
					for (const [record, values, version] of CHANGED)
						await compare(
							JSON.stringify([record, values, version]),
							() => [
								{ id: ids.own, title: 'first' },
								{ id: ids[record], ...values, ...(version === undefined ? {} : { version }) },
							],
							() =>
								ask(
									'PATCH',
									`/${ids[record]}`,
									values,
									version === undefined ? {} : { 'if-match': `"${version}"` },
								),
							(records) => ask('PATCH', '', records),
						)
				})

				test(`removeMany: ${who}`, async () => {
					for (const record of ['a', 'b', 'missing'] as const) {
						await filled(caller)
						const single = await ask('DELETE', `/${ids[record]}`)
						await filled(caller)
						const before = await allRows(model)
						const list = await ask('DELETE', `?id[in]=${ids[record]}`)
						const what = `${who}: ${record}: ${list.error}`
						// A condition that finds nothing is no error.
						assert.is(list.status, single.status === 404 ? 200 : single.status, what)
						const isGone = single.status === 200
						if (list.status === 200) assert.equal(list.data, isGone ? [ids[record]] : [], what)
						assert.is((await allRows(model)).length, before.length - (isGone ? 1 : 0), what)
					}
				})

				test(`totals: ${who}`, async () => {
					await filled(caller)
					for (const query of [
						'',
						'owner=bob&',
						'code=code a&',
						'pin=x&',
						'secret=x&',
						'stock[gte]=5&',
						'search=a&',
					]) {
						const list = await ask('GET', `?${query}fields=id`)
						const totals = await ask('GET', `/totals?${query}count=exact`)
						assert.is(totals.status, list.status, `${who}: ${query} ${totals.error} ${list.error}`)
						const found = Array.isArray(list.data) ? list.data.length : undefined
						if (list.status === 200) assert.equal(totals.data, [{ count: found }], query)
					}
				})
			}
	})
