/** Hidden columns are in no response of any store, and columns that aren't writable are changed by no write. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudRecord,
	type CrudValues,
	createServer,
	type InjectedReply,
	type InjectedRequest,
	type Model,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere } from './stores.ts'
import { type Asked, allRows, OPTIONS, serve } from './things.ts'

const HIDDEN = ['secret', 'pin', 'owner'] as const
const SELECTION = { fields: ['id'], names: ['id'], version: undefined }

/** Three records with markers in their hidden columns; returns their ids. */
async function fill(model: Model): Promise<string[]> {
	const ids: string[] = []
	for (const n of [1, 2, 3]) {
		const hidden = { secret: `MARKER-secret-${n}`, pin: `MARKER-pin-${n}`, owner: `MARKER-owner-${n}` }
		const { id } = await model.create(
			{ title: `title ${n}`, code: `code ${n}`, rank: n, ...hidden },
			SELECTION,
		)
		ids.push(id)
	}
	return ids
}

function json(method: string, url: string, body: unknown, headers = {}): InjectedRequest {
	return {
		method,
		url,
		body: JSON.stringify(body),
		headers: { 'content-type': 'application/json', ...headers },
	}
}

const LISTS = [
	...['', '?limit=2', '?limit=0', '?offset=1', '?count=exact', '?sort=-rank,title', '?fields=id,title'],
	...['?search=title', '?title[contains]=itl', '?rank[gte]=2', '?id[in]=1,2,3', '?note[null]=true'],
	...['?filter={"or":[{"rank":1},{"not":{"title":"title 2"}}]}', '?limit=x', '?cursor=x', '?nothing=1'],
	...['?filter={', '?search=MARKER', '?title[contains]=MARKER', '?sort=', '?fields=', '?count=1', '?%00=1'],
	...HIDDEN.flatMap((name) => [
		...[`?sort=${name}`, `?sort=-${name}`, `?fields=${name}`, `?${name}=1`, `?${name}[startsWith]=M`],
		...[`?filter={"${name}":"x"}`, `?filter={"or":[{"${name}":{"null":false}}]}`, `?search=${name}`],
	]),
]

/** Every verb, on lists and on one record, valid and invalid. */
function sweep(id: string): InjectedRequest[] {
	const lists = LISTS.flatMap((query) =>
		['GET', 'HEAD', 'OPTIONS'].map((method) => ({ method, url: `/things${query.replaceAll('"', '%22')}` })),
	)
	const bodies: unknown[] = [
		...[
			{},
			{ title: 'x' },
			{ title: null },
			{ title: 5 },
			{ title: 'x', code: 'code 2' },
			{ nothing: 1 },
			[],
		],
		...[
			{ title: 'x', parent: 900_000_001 },
			{ title: 'x'.repeat(201) },
			{ title: 'x', secret: 'y'.repeat(201) },
		],
		...[{ title: 'x', secret: 5 }, { title: 'x', secret: 'new' }, { id: 900_000_001 }, { version: 7 }],
		...HIDDEN.slice(1).map((name) => ({ title: 'x', [name]: `MARKER-${name}-2`.replace('MARKER', 'GUESS') })),
	]
	const headers = [{}, { 'if-match': '"77"' }, { 'if-match': '*' }, { 'if-none-match': '*' }]
	const writes = bodies.flatMap((body) => [
		json('POST', '/things', body),
		...['POST', 'PATCH', 'PUT'].flatMap((method) =>
			headers.map((more) => json(method, `/things/${id}`, body, more)),
		),
	])
	const reads = ['', '?fields=id', '?fields=secret', '?nothing=1'].flatMap((query) =>
		['GET', 'HEAD', 'OPTIONS', 'TRACE'].flatMap((method) =>
			[id, '900000001', 'x', '%27'].flatMap((one) =>
				headers.map((more) => ({ method, url: `/things/${one}${query}`, headers: more })),
			),
		),
	)
	const queries = [
		{},
		{ filter: { secret: 'x' } },
		{ sort: 'pin' },
		{ fields: 'id,owner' },
		{ owner: 'x' },
		{ limit: 2 },
	]
	return [
		...lists,
		...queries.map((body) => json('QUERY', '/things', body)),
		...writes,
		...reads,
		{ method: 'DELETE', url: `/things/${id}?fields=secret` },
		{ method: 'DELETE', url: `/things/${id}` },
	]
}

function whole({ status, headers, text }: InjectedReply): string {
	return `${status} ${JSON.stringify(headers)} ${text()}`
}

for (const name of await storesHere()) {
	describe(`hidden columns over ${name}`, (test) => {
		let store: Store
		let model: Model
		let asked: Asked
		let ids: string[]
		test.before(async () => {
			store = await openStore(name, 'hidden')
		})
		test.before.each(async () => {
			model = await store.emptied()
			asked = serve(model)
			ids = await fill(model)
		})
		test.after(() => store.close())

		test('their values are in no response', async () => {
			for (const id of ids.slice(1)) {
				for (const request of sweep(id)) {
					const said = whole(await asked.ask(request))
					assert.not.match(said, 'MARKER', `${request.method} ${request.url} ${request.body}: ${said}`)
					assert.not.match(said, /^500/, `${request.method} ${request.url} ${request.body}`)
				}
			}
		})

		test('hidden by fields(), their values are in no response either, nor in related records', async () => {
			const all = model.fields.map(({ name }) => name)
			class Narrowed extends CrudHandler {
				override fields() {
					return { hidden: this.request.header('x-none') === undefined ? HIDDEN : all }
				}
			}
			const things: CrudHandler = new Narrowed(model, {
				...{ ...OPTIONS, visible: 'all', searchable: ['title', 'note', ...HIDDEN] },
				updatable: [...(OPTIONS.updatable ?? []), ...HIDDEN],
				relations: {
					up: { to: () => things, by: 'parent', many: false },
					down: { to: () => things, many: true },
				},
			})
			const server = createServer({ things }, { logger: { info() {}, warn() {}, error() {} } })
			const [parent, ...children] = ids
			for (const id of children)
				await server.inject(json('PATCH', `/things/${id}`, { parent: Number(parent) }))
			const related = [
				...['include=up,down', 'include=down.up', 'fields=id,up.id', 'fields=down.secret', 'sort=up.secret'],
				...['up.pin=x', 'filter={"down":{"some":{"owner":"x"}}}', 'include={"down":{"sort":"secret"}}'],
				...[
					'filter={"down":{"count":2}}&include=down',
					'include={"down":{"fields":["pin"],"count":"exact"}}',
				],
				'include={"down":{"filter":{"secret":{"startsWith":"M"}}}}',
			].flatMap((query) => [`?${query}`, `/${children[0]}?${query}`, `/${parent}/down?${query}`])
			const reads = [...related, `/${parent}/down`, `/${children[0]}/up`].flatMap((url) =>
				[{}, { 'x-none': '1' }].map((headers) => ({ url: `/things${url.replaceAll('"', '%22')}`, headers })),
			)
			for (const request of [...reads, ...sweep(parent ?? '')]) {
				const said = whole(await server.inject(request))
				const about = JSON.stringify(request)
				assert.not.match(said, 'MARKER', `${about}: ${said}`)
				assert.not.match(said, /^500/, about)
				if ('x-none' in (request.headers ?? {})) assert.not.match(said, /"(?:id|title|parent)":/, about)
			}
		})

		test('querying by them is refused with the same message as an unknown field', async () => {
			const ways = [
				...[
					'sort=NAME',
					'sort=-NAME',
					'fields=NAME',
					'fields=id,NAME',
					'NAME=1',
					'NAME[ne]=1',
					'NAME[null]=true',
				],
				...['filter={"NAME":1}', 'filter={"not":{"NAME":{"gt":"a"}}}'],
			]
			for (const hidden of HIDDEN) {
				for (const way of ways) {
					const say = async (as: string) => {
						const url = `/things?${way.replaceAll('NAME', as).replaceAll('"', '%22')}`
						const { status, text } = await asked.ask({ url })
						return `${status} ${text().replaceAll(as, 'NAME')}`
					}
					const said = await say(hidden)
					assert.match(said, /^400 /, `${hidden}: ${way}`)
					assert.is(said, await say('nosuchcolumn'), `${hidden}: ${way}`)
				}
				const one = async (as: string) => {
					const { status, text } = await asked.ask({ url: `/things/${ids[0]}?fields=${as}` })
					return `${status} ${text().replaceAll(as, 'NAME')}`
				}
				assert.is(await one(hidden), await one('nosuchcolumn'))
			}
		})

		test('totals by them are refused with the same message as of an unknown field, and show none of their values', async () => {
			const totals = { by: ['title', 'code', 'rank'], of: ['rank', 'title', 'code'] }
			const totaled = serve(model, { ...OPTIONS, allow: ['totals'], totals })
			const ways = [
				...['by=NAME', 'by=NAME:year', 'sum=NAME', 'avg=NAME', 'min=NAME', 'max=NAME', 'count=exact&NAME=1'],
				...['count=exact&NAME[startsWith]=M', 'by=title&sort=NAME', 'by=title&sort=-max.NAME'],
				...['count=exact&filter={"not":{"NAME":{"gt":"a"}}}', 'count=exact&having={"max.NAME":{"gt":"a"}}'],
			]
			for (const hidden of HIDDEN)
				for (const way of ways) {
					const say = async (as: string) => {
						const url = `/things/totals?${way.replaceAll('NAME', as).replaceAll('"', '%22')}`
						const { status, text } = await totaled.ask({ url })
						return `${status} ${text().replaceAll(as, 'NAME')}`
					}
					const said = await say(hidden)
					assert.match(said, /^400 /, `${hidden}: ${way}`)
					assert.is(said, await say('nosuchcolumn'), `${hidden}: ${way}`)
				}
			const shown = [
				'by=title,code,rank&count=exact',
				'min=title,code&max=title,code',
				'by=code&search=MARKER',
			]
			for (const query of shown) {
				const said = whole(await totaled.ask({ url: `/things/totals?${query}` }))
				assert.match(said, /^200/)
				assert.not.match(said, 'MARKER')
			}
		})

		test('writing them is refused with the same message as an unknown field, unless they are writable', async () => {
			for (const hidden of ['pin', 'owner']) {
				for (const [method, url] of [
					['POST', '/things'],
					...['POST', 'PATCH', 'PUT'].map((one) => [one, `/things/${ids[0]}`]),
				] as const) {
					const say = async (as: string) => {
						const { status, text } = await asked.ask(
							json(String(method), String(url), { title: 'x', [as]: 'y' }),
						)
						return `${status} ${text().replaceAll(as, 'NAME')}`
					}
					const said = await say(hidden)
					assert.match(said, /^422 /)
					assert.is(said, await say('nosuchcolumn'))
				}
			}
		})

		test('a conflict in a hidden unique column names no field', async () => {
			const silent = { info() {}, warn() {}, error() {} }
			class Pinned extends CrudHandler {
				override create(values: Record<string, unknown>) {
					return super.create({ ...values, pin: 'MARKER-pin-2' })
				}
			}
			const handler = new Pinned(model, { visible: ['id', 'title'], updatable: ['title'], allow: ['create'] })
			const server = createServer({ pinned: handler }, { logger: silent })
			const reply = await server.inject(json('POST', '/pinned', { title: 'x' }))
			assert.is(reply.status, 409)
			assert.not.match(whole(reply), /pin|MARKER|secret/i)
			assert.is((await allRows(model)).length, 3)
		})

		test('no write changes a field that is not updatable', async () => {
			const [id = ''] = ids
			const fixed = async () =>
				(await allRows(model)).map(({ id: own, pin, owner }) => JSON.stringify([own, pin, owner]))
			const before = await fixed()
			const bodies = [
				{ title: 'x', pin: 'a', owner: 'a' },
				{ title: 'x', id: 900_000_001 },
				{ title: 'x', version: 900 },
				{ title: 'x', 'pin ': 'a', PIN: 'a', Owner: 'a' },
				{ title: 'x', __proto__: { pin: 'a' } },
				{ title: 'x' },
			]
			let expected = 1
			for (const body of bodies) {
				for (const method of ['POST', 'PATCH', 'PUT']) {
					const { status } = await asked.ask(json(method, `/things/${id}`, body))
					if (status === 200) expected++
				}
			}
			assert.equal(await fixed(), before)
			const [row] = await allRows(model)
			assert.is(row?.version, expected)
		})

		test("the hidden value an override needs is next to each operation's JSON text, never in it", async () => {
			const seen: unknown[] = []
			const seenIn = (record: CrudRecord): CrudRecord => {
				seen.push(record.needed)
				return record
			}
			class Needing extends CrudHandler {
				override async list() {
					this.needs('secret', 'rank')
					const page = await super.list({ ...this.listQuery(), limit: 2 })
					seen.push(...page.needed)
					return page
				}
				override async read(id: string) {
					this.needs('secret', 'rank')
					return seenIn(await super.read(id))
				}
				override async update(id: string, values: CrudValues) {
					this.needs('secret', 'rank')
					return seenIn(await super.update(id, values))
				}
				override async remove(id: string) {
					this.needs('secret', 'rank')
					return seenIn(await super.remove(id))
				}
			}
			const server = createServer({ things: new Needing(model, OPTIONS) })
			const big = '9007199254740993'
			const ask = async (request: InjectedRequest) => {
				const { text } = await server.inject(request)
				assert.not.match(text(), 'MARKER')
				return text()
			}
			const [id] = ids
			assert.match(await ask({ url: '/things?fields=title,extra' }), /"title":"title 1"/)
			assert.match(await ask({ url: '/things' }), /"rank":2/)
			const patch = json('PATCH', `/things/${id}?fields=title,rank`, { rank: big, extra: { a: '},{"x":1' } })
			assert.is(await ask(patch), `{"success":true,"data":{"title":"title 1","rank":${big}}}`)
			const record = await ask({ url: `/things/${id}?fields=extra` })
			assert.equal(JSON.parse(record), { success: true, data: { extra: { a: '},{"x":1' } } })
			const removed = await ask({ method: 'DELETE', url: `/things/${id}?fields=title` })
			assert.is(removed, '{"success":true,"data":{"title":"title 1"}}')
			const expected = ['1 1', '2 2', '1 1', '2 2', ...['1', '1', '1'].map((n) => `${n} ${Number(big)}`)]
			assert.equal(
				seen,
				expected.map((one) => {
					const [n, rank] = one.split(' ')
					return { secret: `MARKER-secret-${n}`, rank: Number(rank) }
				}),
			)
		})

		test('a hidden column keeps its value when a replacement omits it', async () => {
			const { status } = await asked.ask(json('PUT', `/things/${ids[0]}`, { title: 'new' }))
			assert.is(status, 200)
			const [row] = await allRows(model)
			assert.equal([row?.title, row?.rank, row?.secret], ['new', null, 'MARKER-secret-1'])
		})
	})
}
