/** Visits to what both servers must agree on (limits, idempotency keys, signed requests), and requests with tokens. */
import { randomUUID } from 'node:crypto'
import { signRequest } from '../../../lib/client/index.ts'
import type { Answer, Ask } from '../load/ask.ts'
import type { Kind, Visit } from '../load/visit.ts'
import { done, refused, someNumber, type Wanted } from '../load/wanted.ts'
import { CALLER, FIXED, KEY_ID, SLIDING, TOKENS } from '../server/guarded.ts'

/** More concurrent requests to both servers than the rate limit: exactly the limit is let in. */
async function limited(visit: Visit): Promise<void> {
	const isFixed = visit.random(2) === 0
	const limit = isFixed ? FIXED : SLIDING
	const name = isFixed ? 'get_fixed' : 'get_sliding'
	const ask = {
		method: 'GET',
		path: isFixed ? '/limited/fixed' : '/limited/sliding',
		headers: { [CALLER]: visit.name },
	}
	const servers = Array.from({ length: limit + 3 }, (_, at) => (at % 2 === 0 ? visit.here : visit.there))
	const answers = await Promise.all(
		servers.map(async (server) => [server, await visit.ask(server, ask)] as const),
	)
	const policy = `"${name}";q=${limit};w=900`
	for (const [server, answer] of answers) {
		const wanted: Wanted =
			answer.status === 429
				? {
						status: 429,
						headers: { 'ratelimit-policy': policy, 'retry-after': /^\d+$/ },
						json: refused('too_many_requests'),
					}
				: { status: 200, headers: { 'ratelimit-policy': policy }, json: done(someNumber) }
		visit.check(server, ask, answer, wanted)
	}
	const served = answers.filter(([, { status }]) => status === 200).length
	visit.hold(served === limit, `${served} were let in instead of ${limit} (${name})`)
}

/** A request with an idempotency key is run once, even if it is repeated and sent to both servers. */
async function keyed(visit: Visit): Promise<void> {
	// A caller may use 10,000 keys a day, so the caller changes from time to time.
	const headers = {
		[CALLER]: `payer-${Math.floor(visit.number / 5_000)}`,
		'Idempotency-Key': `"${randomUUID()}"`,
	}
	const order = `order-${visit.number}`
	const ask: Ask = { method: 'POST', path: '/payments/payment', headers, json: { order, amount: 5 } }
	const paid: Wanted = { status: 201, json: done({ number: someNumber, order, amount: 5 }) }
	const first = await visit.expect(visit.here, ask, {
		...paid,
		headers: { 'idempotent-replayed': undefined },
	})
	visit.load.ledger.payments.add(order)
	const replayed = { status: 201, headers: { 'idempotent-replayed': 'true' }, bytes: first.body }
	await visit.expect(visit.there, ask, replayed)
	await visit.expect(visit.here, ask, replayed)
	await visit.expect(
		visit.there,
		{ ...ask, json: { order, amount: 6 } },
		{ status: 422, json: (found: unknown) => found !== null },
	)
}

/** The same key at both servers at once: one runs it, the other replays it or refuses it with 409. */
async function keyedAtOnce(visit: Visit): Promise<void> {
	const headers = {
		[CALLER]: `racer-${Math.floor(visit.number / 5_000)}`,
		'Idempotency-Key': `"${randomUUID()}"`,
	}
	const order = `race-${visit.number}`
	const ask: Ask = { method: 'POST', path: '/payments/payment', headers, json: { order, amount: 7 } }
	const servers = [visit.here, visit.there]
	const answers = await Promise.all(
		servers.map(async (server) => [server, await visit.ask(server, ask)] as const),
	)
	const paid: Answer[] = []
	for (const [server, answer] of answers) {
		if (answer.status === 201) paid.push(answer)
		visit.check(
			server,
			ask,
			answer,
			answer.status === 409
				? { status: 409, headers: { 'retry-after': /^\d+$/ }, json: refused('conflict') }
				: { status: 201, json: done({ number: someNumber, order, amount: 7 }) },
		)
	}
	visit.load.ledger.payments.add(order)
	const [one, other = one] = paid
	visit.hold(
		one !== undefined && other !== undefined && one.body.equals(other.body),
		'the answers differ, or there is none',
	)
}

/** A signed request is accepted once, by either server. */
async function signed(visit: Visit): Promise<void> {
	const isPost = visit.random(3) === 0
	const id = String(visit.number)
	const ask: Ask = isPost
		? { method: 'POST', path: `/vault/note?of=${id}`, json: { text: id } }
		: { method: 'GET', path: `/vault/note/${id}` }
	const request = await signRequest(requestOf(ask), { id: KEY_ID, secret: visit.load.secret })
	// The signature covers the host, which must be the same for both servers.
	const headers = { ...Object.fromEntries(request.headers), Host: 'api.example.com' }
	const wanted = {
		status: 200,
		json: done(isPost ? { written: { text: id }, by: KEY_ID } : { id, by: KEY_ID }),
	}
	await visit.expect(visit.here, { ...ask, headers }, wanted)
	const unknown = { status: 401, headers: { 'accept-signature': /^sig=/ }, json: refused('unauthorized') }
	await visit.expect(visit.there, { ...ask, headers }, unknown)
	await visit.expect(visit.here, ask, unknown)
	if (isPost) {
		const other = await signRequest(requestOf(ask), { id: KEY_ID, secret: visit.load.secret })
		const headers = { ...Object.fromEntries(other.headers), Host: 'api.example.com' }
		await visit.expect(visit.there, { ...ask, headers, json: { text: 'another' } }, unknown)
	}
}

function requestOf({ method, path, json }: Ask): Request {
	const body =
		json === undefined ? {} : { body: JSON.stringify(json), headers: { 'Content-Type': 'application/json' } }
	return new Request(`http://api.example.com${path}`, { method, ...body })
}

async function tokens(visit: Visit): Promise<void> {
	const as = (token: string) => ({ Authorization: `Bearer ${token}` })
	const me = { method: 'GET', path: '/desk/me' }
	const notice = { method: 'POST', path: '/desk/notice' }
	await visit.expect(visit.here, me, {
		status: 401,
		headers: { 'www-authenticate': 'Bearer realm="api"' },
		json: refused('unauthorized'),
	})
	await visit.expect(
		visit.there,
		{ ...me, headers: as('guessed') },
		{ status: 401, headers: { 'www-authenticate': /error="invalid_token"/ }, json: refused('unauthorized') },
	)
	await visit.expect(
		visit.here,
		{ ...me, headers: as(TOKENS.reader) },
		{ status: 200, json: done({ id: 'rick', mayWrite: false }) },
	)
	await visit.expect(
		visit.there,
		{ ...notice, headers: as(TOKENS.reader) },
		{ status: 403, json: refused('forbidden') },
	)
	await visit.expect(
		visit.here,
		{ ...notice, headers: as(TOKENS.editor) },
		{ status: 200, json: done('written by ruth') },
	)
}

export const GUARDED: readonly Kind[] = [
	{ name: 'limited', weight: 3, requests: 7.5, visit: limited },
	{ name: 'keyed', weight: 4, requests: 4, visit: keyed },
	{ name: 'keyed-at-once', weight: 2, requests: 2, visit: keyedAtOnce },
	{ name: 'signed', weight: 5, requests: 3.3, visit: signed },
	{ name: 'tokens', weight: 4, requests: 5, visit: tokens },
]
