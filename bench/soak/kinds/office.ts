/** Visits to methods: values, `remember`, compressed bodies, errors, hooks, versions, and HEAD, OPTIONS and the like. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { word } from '../../random.ts'
import type { Kind, Visit } from '../load/visit.ts'
import { done, refused, someText } from '../load/wanted.ts'
import { catalogueOf } from '../server/office.ts'
import { ORIGIN } from '../server/site.ts'

async function values(visit: Visit): Promise<void> {
	const text = word(visit.random, 6)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/office/echo/${text}/b%20c?tag=${text}` },
		{ status: 200, headers: { 'x-words': '2' }, json: done({ words: [text, 'b c'], query: { tag: text } }) },
	)
	await visit.expect(
		visit.there,
		{ method: 'POST', path: `/office/room/${text}/desk/${visit.number}` },
		{ status: 200, json: done({ room: text, desk: visit.number }) },
	)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/office/${text}` },
		{ status: 404, json: refused('not_found') },
	)
	await visit.expect(
		visit.there,
		{ method: 'POST', path: '/office/echo' },
		{ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' }, json: refused('method_not_allowed') },
	)
}

/** `remember`: one request loads a value, and both servers return that value until it is forgotten at either of them. */
async function remembered(visit: Visit): Promise<void> {
	const ask = { method: 'GET', path: `/office/report/${visit.number}` }
	const wanted = { status: 200, json: done({ number: String(visit.number), made: someText }) }
	const first = await visit.expect(visit.here, ask, wanted)
	const again = await Promise.all(
		[visit.there, visit.here, visit.there].map((server) => visit.expect(server, ask, wanted)),
	)
	for (const { body } of again) visit.hold(body.equals(first.body), `${body} instead of ${first.body}`)
	await visit.expect(
		visit.there,
		{ ...ask, method: 'DELETE' },
		{ status: 200, json: done({ forgotten: true }) },
	)
	const next = await visit.expect(visit.here, ask, wanted)
	visit.hold(!next.body.equals(first.body), 'what was forgotten was answered again', next)
	await visit.expect(
		visit.here,
		{ ...ask, method: 'DELETE' },
		{ status: 200, json: done({ forgotten: true }) },
	)
}

async function compressed(visit: Visit): Promise<void> {
	const seed = visit.random(1_000)
	const path = `/office/catalogue/${seed}`
	const plain = Buffer.from(JSON.stringify(done(catalogueOf(seed))))
	const vary = /(?:^|, )Accept-Encoding(?:,|$)/
	await visit.expect(
		visit.here,
		{ method: 'GET', path },
		{ status: 200, headers: { vary, 'content-encoding': undefined }, bytes: plain },
	)
	for (const [coding, decode] of [
		['gzip', gunzipSync],
		['br', brotliDecompressSync],
	] as const) {
		const ask = { method: 'GET', path, headers: { 'Accept-Encoding': coding } }
		const answer = await visit.expect(visit.there, ask, {
			status: 200,
			headers: { vary, 'content-encoding': coding },
		})
		visit.hold(decode(answer.body).equals(plain), `${coding} is of other bytes`, answer)
	}
}

async function failures(visit: Visit): Promise<void> {
	visit.load.ledger.crashes++
	await visit.expect(
		visit.here,
		{ method: 'GET', path: '/office/crash' },
		{
			status: 500,
			json: { success: false, error: 'Internal Server Error', code: 'internal', requestId: someText },
		},
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: '/office/gone', headers: { Accept: 'application/problem+json' } },
		{
			status: 410,
			headers: { 'content-type': 'application/problem+json; charset=utf-8' },
			json: { type: 'about:blank', title: 'Gone', status: 410, detail: 'It was here', code: 'gone' },
		},
	)
}

async function hooks(visit: Visit): Promise<void> {
	// Concurrently: neither may see the other's tenant.
	await Promise.all(
		['ann', 'bob'].map((tenant) =>
			visit.expect(
				visit.here,
				{ method: 'GET', path: `/hooked/order/${visit.number}?tenant=${tenant}` },
				{ status: 200, headers: { 'x-tenant': tenant }, json: done({ value: String(visit.number), tenant }) },
			),
		),
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: '/hooked/order/1' },
		{ status: 400, json: { success: false, error: 'Which tenant?', code: 'bad_request' } },
	)
}

async function versions(visit: Visit): Promise<void> {
	const number = String(visit.number)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/v1/name/${number}` },
		{
			status: 200,
			headers: {
				deprecation: '@1769817600',
				sunset: 'Fri, 31 Dec 2027 00:00:00 GMT',
				link: '</v2>; rel="deprecation"',
			},
			json: done(`name ${number}`),
		},
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path: `/v2/name/${number}` },
		{
			status: 200,
			headers: { deprecation: undefined, sunset: undefined },
			json: done({ name: `name ${number}` }),
		},
	)
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/v3/name/${number}` },
		{
			status: 404,
			json: { success: false, error: 'There is no version v3 here: v1, v2', code: 'not_found' },
		},
	)
}

/** HEAD, OPTIONS, preflights, origins, health. */
async function manners(visit: Visit): Promise<void> {
	const path = `/office/echo/${visit.number}`
	const { length } = JSON.stringify(done({ words: [String(visit.number)], query: {} }))
	await visit.expect(
		visit.here,
		{ method: 'HEAD', path },
		{ status: 200, headers: { 'content-length': String(length), 'x-words': '1' }, bytes: Buffer.of() },
	)
	await visit.expect(
		visit.there,
		{ method: 'OPTIONS', path },
		{ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } },
	)
	await visit.expect(
		visit.here,
		{
			method: 'OPTIONS',
			path: '/records/1',
			headers: {
				Origin: ORIGIN,
				'Access-Control-Request-Method': 'PUT',
				'Access-Control-Request-Headers': 'content-type',
			},
		},
		{
			status: 204,
			headers: {
				'access-control-allow-origin': ORIGIN,
				'access-control-allow-methods': /\bPUT\b/,
				'access-control-allow-headers': 'content-type',
				'access-control-max-age': '600',
			},
		},
	)
	await visit.expect(
		visit.there,
		{ method: 'GET', path, headers: { Origin: 'https://elsewhere.example.com' } },
		{ status: 200, headers: { 'access-control-allow-origin': undefined, vary: /(?:^|, )Origin(?:,|$)/ } },
	)
	const ok = { status: 200, headers: { 'cache-control': 'no-store' }, json: done({ status: 'ok' }) }
	await visit.expect(visit.here, { method: 'GET', path: '/health/live' }, ok)
	await visit.expect(visit.there, { method: 'GET', path: '/health/ready' }, ok)
}

export const OFFICE: readonly Kind[] = [
	{ name: 'values', weight: 12, requests: 4, visit: values },
	{ name: 'remembered', weight: 6, requests: 7, visit: remembered },
	{ name: 'compressed', weight: 3, requests: 3, visit: compressed },
	{ name: 'failures', weight: 2, requests: 2, visit: failures },
	{ name: 'hooks', weight: 4, requests: 3, visit: hooks },
	{ name: 'versions', weight: 3, requests: 3, visit: versions },
	{ name: 'manners', weight: 4, requests: 6, visit: manners },
]
