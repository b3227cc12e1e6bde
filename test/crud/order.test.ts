/** The option `sort`: the order of lists whose request gives none. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

interface Row {
	readonly id: number
	readonly comments?: { readonly data: readonly Row[]; readonly meta: { readonly next: string | null } }
}

const ticketModel = new MemoryModel('ticket', {
	key: 'id',
	fields: {
		id: 'integer',
		state: 'text',
		rank: { type: 'integer', nullable: true },
		about: { type: 'json', nullable: true },
	},
	rows: [
		{ state: 'open', rank: 2 },
		{ state: 'shut', rank: 1 },
		{ state: 'open', rank: null },
		{ state: 'shut', rank: 2 },
	],
})
const commentModel = new MemoryModel('comment', {
	key: 'id',
	fields: { id: 'integer', ticketId: 'integer', day: 'integer' },
	references: [{ field: 'ticketId', model: ticketModel }],
	rows: [1, 2, 3].map((n) => ({ ticketId: 1, day: n % 2 })),
})

/** Tickets, whose ranks callers other than staff don't have, and their comments. */
function serve(options: Partial<CrudOptions> = {}) {
	class Tickets extends CrudHandler {
		override fields() {
			return this.request.header('staff') === undefined ? { hidden: ['rank'] } : {}
		}
		async get_all() {
			return (await this.list({})).value()
		}
	}
	const comments = new CrudHandler(commentModel, { visible: 'all', sort: ['-day', 'id'] })
	const tickets = new Tickets(ticketModel, {
		...{ visible: 'all', sort: ['state', '-rank'], relations: { comments: { to: comments } }, ...options },
	})
	const { ask } = asking({ ticket: tickets, comment: comments })
	const list = async (request: string, caller: Record<string, string> = { Staff: '1' }) =>
		(await ask(request, { headers: caller })).json() as { data: Row[]; meta: { next: string } }
	const ids = async (request: string, caller?: Record<string, string>) =>
		(await list(request, caller)).data.map(({ id }) => id)
	return { list, ids }
}

describe('crud: the order of lists without a sort', (test) => {
	test('is that of the option, then of the key; a request may give another', async () => {
		const { ids } = serve()
		assert.equal(await ids('/ticket'), [1, 3, 4, 2])
		assert.equal(await ids('/ticket?id[lt]=4'), [1, 3, 2])
		assert.equal(await ids('QUERY /ticket'), [1, 3, 4, 2])
		assert.equal(await ids('/ticket/all'), [1, 3, 4, 2])
		assert.equal(await ids('/ticket?sort=id'), [1, 2, 3, 4])
		const plain = serve({ sort: [] })
		assert.equal(await plain.ids('/ticket'), [1, 2, 3, 4])
	})

	test('has cursors, which are also those of the same sort in the request', async () => {
		const { list, ids } = serve()
		const { meta, data } = await list('/ticket?limit=2')
		assert.equal([data[0]?.id, data[1]?.id], [1, 3])
		assert.equal(await ids(`/ticket?limit=2&cursor=${meta.next}`), [4, 2])
		assert.equal(await ids(`/ticket?limit=2&sort=state,-rank&cursor=${meta.next}`), [4, 2])
	})

	test('is that of related records, within others and below them', async () => {
		const { list, ids } = serve()
		assert.equal(await ids('/ticket/1/comments'), [1, 3, 2])
		const including = encodeURIComponent(JSON.stringify({ comments: { limit: 2 } }))
		const [ticket] = (await list(`/ticket?include=${including}`)).data
		assert.equal(
			ticket?.comments?.data.map(({ id }) => id),
			[1, 3],
		)
		assert.equal(await ids(`/ticket/1/comments?cursor=${ticket?.comments?.meta.next}`), [2])
		const sorted = encodeURIComponent(JSON.stringify({ comments: { sort: '-id' } }))
		const [first] = (await list(`/ticket?include=${sorted}`)).data
		assert.equal(
			first?.comments?.data.map(({ id }) => id),
			[3, 2, 1],
		)
	})

	test('leaves out the fields that a request does not have', async () => {
		const { ids } = serve()
		assert.equal(await ids('/ticket', {}), [1, 3, 2, 4])
		assert.equal(await ids('/ticket/all', {}), [1, 3, 2, 4])
		assert.equal(await ids('/ticket?id[lt]=4', {}), [1, 3, 2])
	})

	const mistakes: [what: string, options: Partial<CrudOptions>, message: string | RegExp][] = [
		['an unknown field', { sort: ['-rnk'] }, "Tickets: sort: rnk isn't in sortable: did you mean rank?"],
		['a hidden one', { visible: ['id'], sort: ['rank'] }, /^Tickets: sort: rank isn't in sortable/],
		['one that clients can not sort by', { sortable: ['id'], sort: ['rank'] }, /rank isn't in sortable/],
		['one without an order', { sort: ['about'] }, /^Tickets: sort: about isn't in sortable/],
		['one of related records', { sort: ['comments.id'] }, /^Tickets: sort: comments.id isn't in sortable/],
		['a field twice', { sort: ['rank', '-rank'] }, 'Tickets: sort names rank twice'],
		['a text', { sort: 'rank' as unknown as string[] }, /^Tickets: sort must be an array of names/],
	]
	for (const [what, options, message] of mistakes)
		test(`is refused with ${what}`, () => assert.throws(() => serve(options), message))
})
