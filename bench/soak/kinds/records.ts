/** Visits to records: what one server has written, the other must return; both must refuse a stale update. */
import type { Shelf } from '../load/ledger.ts'
import type { Kind, Visit } from '../load/visit.ts'
import { done, refused, someNumber } from '../load/wanted.ts'
import type { Row } from '../services.ts'
import { anyOf, changedValues, FEWEST, MOST, newValues, shown, tag } from './shelf-record.ts'

const path = ({ id }: Row) => `/records/${id}`

/** Creates a record, and has the other server read it. */
export async function create(visit: Visit, shelf: Shelf): Promise<void> {
	const values = newValues(visit, shelf)
	const ask = { method: 'POST', path: '/records', json: values }
	const answer = await visit.ask(visit.here, ask)
	const { id } = (JSON.parse(answer.body.toString()).data ?? {}) as { id: number } // checked below
	const { etag = '' } = answer.headers
	const revision = Number(/^"(\d+)"$/.exec(String(etag))?.[1])
	visit.check(visit.here, ask, answer, {
		status: 201,
		headers: {
			etag: `"${revision}"`,
			location: `/records/${id}`,
			'content-type': 'application/json; charset=utf-8',
		},
		json: done({ id: someNumber, ...values }),
	})
	const row = { id, ...values, revision }
	visit.load.ledger.created(shelf, row)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: path(row) },
		{ status: 200, headers: { etag: tag(row) }, json: done(shown(row)) },
	)
}

async function read(visit: Visit, shelf: Shelf): Promise<void> {
	const row = anyOf(shelf, visit.random)
	const headers = { 'If-None-Match': tag(row) }
	await visit.expect(
		visit.here,
		{ method: 'GET', path: path(row) },
		{ status: 200, headers: { etag: tag(row) }, json: done(shown(row)) },
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: path(row), headers },
		{ status: 304, headers: { etag: tag(row), 'content-type': undefined }, bytes: Buffer.of() },
	)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/shown/${row.id}?fields=title,rank` },
		{ status: 200, json: done({ title: row.title, rank: row.rank }) },
	)
}

/** Two clients update the same version of a record: the second gets 412. */
async function update(visit: Visit, shelf: Shelf): Promise<void> {
	const row = anyOf(shelf, visit.random)
	const values = changedValues(visit.random)
	const headers = { 'If-Match': tag(row) }
	const changed = { ...row, ...values, revision: row.revision + 1 }
	await visit.expect(
		visit.here,
		{ method: 'PATCH', path: path(row), headers, json: values },
		{ status: 200, headers: { etag: tag(changed) }, json: done(shown(changed)) },
	)
	visit.load.ledger.changed(shelf, changed)
	await visit.expect(
		visit.there,
		{ method: 'PATCH', path: path(row), headers, json: { note: 'too late' } },
		{ status: 412, json: refused('precondition_failed') },
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: path(row) },
		{ status: 200, headers: { etag: tag(changed) }, json: done(shown(changed)) },
	)
}

async function replace(visit: Visit, shelf: Shelf): Promise<void> {
	const row = anyOf(shelf, visit.random)
	const rank = visit.random(100)
	// What isn't sent becomes null.
	const changed = { ...row, rank, note: null, revision: row.revision + 1 }
	await visit.expect(
		visit.here,
		{ method: 'PUT', path: path(row), headers: { 'If-Match': tag(row) }, json: { title: row.title, rank } },
		{ status: 200, headers: { etag: tag(changed) }, json: done(shown(changed)) },
	)
	visit.load.ledger.changed(shelf, changed)
}

async function remove(visit: Visit, shelf: Shelf): Promise<void> {
	const row = anyOf(shelf, visit.random)
	await visit.expect(
		visit.here,
		{ method: 'DELETE', path: path(row) },
		{ status: 200, json: done(shown(row)) },
	)
	visit.load.ledger.deleted(shelf, row.id)
	const gone = { status: 404, json: refused('not_found') }
	await visit.expect(visit.there, { method: 'GET', path: path(row) }, gone)
	await visit.expect(visit.here, { method: 'DELETE', path: path(row) }, gone)
}

/** Refused requests. The next visit to this shelf would notice if they changed anything. */
async function refuse(visit: Visit, shelf: Shelf): Promise<void> {
	const row = anyOf(shelf, visit.random)
	const values = newValues(visit, shelf)
	const invalid = [
		[{ ...values, rank: 'high' }, 'rank', 'integer'],
		[{ ...values, rank: 1_001 }, 'rank', 'max'],
		[{ ...values, title: null }, 'title', 'required'],
		[{ ...values, revision: 7 }, 'revision', 'unknown'],
	] as const
	const [json, field, code] = invalid[visit.random(invalid.length)] ?? invalid[0]
	await visit.expect(
		visit.here,
		{ method: 'POST', path: '/records', json },
		{
			status: 422,
			json: refused('invalid', {
				details: [{ field, code, message: (text: unknown) => typeof text === 'string' }],
			}),
		},
	)
	await visit.expect(
		visit.there,
		{ method: 'POST', path: '/records', json: { ...values, title: row.title } },
		{
			status: 409,
			json: refused('conflict', {
				details: [{ field: 'title', code: 'unique', message: 'is taken by another record' }],
			}),
		},
	)
	await visit.expect(
		visit.here,
		{ method: 'DELETE', path: `/shown/${row.id}` },
		{ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' }, json: refused('method_not_allowed') },
	)
}

/** Adds a record to a small shelf, removes one from a full shelf, and otherwise does either. */
async function turnOver(visit: Visit, shelf: Shelf): Promise<void> {
	const { size } = shelf.records
	if (size < FEWEST) return create(visit, shelf)
	if (size >= MOST) return remove(visit, shelf)
	return visit.random(2) === 0 ? create(visit, shelf) : remove(visit, shelf)
}

/** A visit to a shelf. If the shelf is empty, the visit only creates its first record. */
function ofShelf(
	name: string,
	weight: number,
	requests: number,
	work: (visit: Visit, shelf: Shelf) => Promise<void>,
): Kind {
	return {
		...{ name, weight, requests },
		visit: (visit) =>
			visit.load.ledger.withShelf((shelf) =>
				shelf.records.size === 0 ? create(visit, shelf) : work(visit, shelf),
			),
	}
}

export const RECORDS: readonly Kind[] = [
	ofShelf('read', 20, 3, read),
	ofShelf('turnover', 10, 2.5, turnOver),
	ofShelf('update', 8, 3, update),
	ofShelf('replace', 3, 1, replace),
	ofShelf('refuse', 3, 3, refuse),
]
