/** Visits to lists: every page of a shelf, in order, compared with the ledger. */
import type { Shelf } from '../load/ledger.ts'
import type { Kind, Visit } from '../load/visit.ts'
import { done, refused } from '../load/wanted.ts'
import type { Row } from '../services.ts'
import { shown } from './shelf-record.ts'

/** By rank, then by id, both descending: the key completes an order in the direction of its last term. */
const byRank = (one: Row, other: Row) => other.rank - one.rank || other.id - one.id
const byTitle = (one: Row, other: Row) => (one.title < other.title ? -1 : 1)
const byId = (one: Row, other: Row) => one.id - other.id

/** Follows the cursors to the end, alternating between the servers. */
async function pages(visit: Visit, shelf: Shelf): Promise<void> {
	const isRanked = visit.random(2) === 0
	const rows = [...shelf.records.values()].sort(isRanked ? byRank : byTitle)
	const limit = 5 + visit.random(5)
	const first = `/records?shelf=${shelf.number}&limit=${limit}&sort=${isRanked ? '-rank' : 'title'}`
	let path = first
	for (let from = 0, page = 0; ; from += limit, page++) {
		const server = page % 2 === 0 ? visit.here : visit.there
		const isLast = from + limit >= rows.length
		const answer = await visit.expect(
			server,
			{ method: 'GET', path },
			{
				status: 200,
				headers: { link: isLast ? undefined : /^<\/records\?.*cursor=.*>; rel="next"$/ },
				json: {
					success: true,
					data: rows.slice(from, from + limit).map(shown),
					meta: metaOf(limit, isLast),
				},
			},
		)
		if (isLast) return
		const { meta } = JSON.parse(answer.body.toString()) as { meta: { next: string } } // checked above
		path = `${first}&cursor=${encodeURIComponent(meta.next)}`
	}
}

function metaOf(limit: number, isLast: boolean): object {
	const next = (cursor: unknown) => (isLast ? cursor === null : typeof cursor === 'string')
	return { limit, offset: (offset: unknown) => offset === 0 || offset === undefined, next }
}

async function filters(visit: Visit, shelf: Shelf): Promise<void> {
	const rows = [...shelf.records.values()].sort(byId)
	const low = visit.random(60)
	const high = low + 30
	const ranked = rows.filter(({ rank }) => rank >= low && rank <= high)
	const page = (found: readonly Row[], total: boolean) => ({
		status: 200,
		...(total ? { headers: { 'x-total-count': String(found.length) } } : {}),
		json: {
			success: true,
			data: found.map(shown),
			meta: { limit: 50, offset: 0, next: null, ...(total ? { total: found.length } : {}) },
		},
	})
	await visit.expect(
		visit.here,
		{
			method: 'GET',
			path: `/records?shelf=${shelf.number}&rank[between]=${low},${high}&limit=50&count=exact`,
		},
		page(ranked, true),
	)
	const filter = JSON.stringify({ shelf: shelf.number, or: [{ note: null }, { rank: { gt: high } }] })
	const chosen = rows.filter(({ note, rank }) => note === null || rank > high)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: `/records?limit=50&filter=${encodeURIComponent(filter)}` },
		page(chosen, false),
	)
	const part = rows[0]?.title.slice(1, 4) ?? 'none'
	const named = rows.filter(({ title, note }) => title.includes(part) || note?.includes(part) === true)
	await visit.expect(
		visit.here,
		{ method: 'QUERY', path: '/records', json: { shelf: shelf.number, search: part, limit: 50 } },
		page(named, false),
	)
}

async function mistakes(visit: Visit): Promise<void> {
	const bad = { status: 400, json: (found: unknown) => found !== null }
	await visit.expect(visit.here, { method: 'GET', path: '/records?colour=red' }, bad)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: '/records?cursor=guessed' },
		{ status: 400, json: refused('bad_request', { details: Array.isArray }) },
	)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: '/records/0x1' },
		{ status: 404, json: refused('not_found') },
	)
	await visit.expect(
		visit.there,
		{ method: 'HEAD', path: '/records?limit=1&shelf=0' },
		{ status: 200, bytes: Buffer.of(), headers: { 'content-length': /^\d+$/ } },
	)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: '/records?limit=3&shelf=0' },
		{ status: 200, json: { ...done([]), meta: { limit: 3, offset: 0, next: null } } },
	)
}

export const LISTS: readonly Kind[] = [
	{
		name: 'pages',
		weight: 10,
		requests: 3,
		visit: (visit) => visit.load.ledger.withShelf((shelf) => pages(visit, shelf)),
	},
	{
		name: 'filters',
		weight: 6,
		requests: 3,
		visit: (visit) => visit.load.ledger.withShelf((shelf) => filters(visit, shelf)),
	},
	{ name: 'mistakes', weight: 2, requests: 5, visit: mistakes },
]
