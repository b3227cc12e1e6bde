/** Visits with bodies: forms, files, streams in both directions, bodies that are too large, and clients that are slow or leave. */
import { createHash } from 'node:crypto'
import { type Random, word } from '../../random.ts'
import { dawdle, leaveAnswer, leaveUpload } from '../load/misbehave.ts'
import type { Kind, Visit } from '../load/visit.ts'
import { done, refused } from '../load/wanted.ts'
import { MAX_BODY } from '../server/site.ts'

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const BOUNDARY = 'a-boundary-of-the-soak'

async function forms(visit: Visit): Promise<void> {
	const title = word(visit.random, 8)
	const ask = { method: 'POST', path: '/forms/article' }
	await visit.expect(
		visit.here,
		{ ...ask, headers: FORM, body: `title=${title}&rating=5` },
		{ status: 201, headers: { location: '/forms/article/1' }, json: done({ title, rating: 5 }) },
	)
	await visit.expect(
		visit.there,
		{ ...ask, json: { rating: 6 } },
		{
			status: 422,
			json: refused('invalid', {
				details: [
					{ field: 'title', code: 'required', message: 'is required' },
					{ field: 'rating', code: 'max', message: 'must be at most 5' },
				],
			}),
		},
	)
	await visit.expect(
		visit.here,
		{ ...ask, headers: { 'Content-Type': 'application/json' }, body: '{"title":}' },
		{ status: 400, json: refused('bad_request') },
	)
	await visit.expect(
		visit.there,
		{ ...ask, headers: { 'Content-Type': 'text/csv' }, body: title },
		{ status: 415, json: refused('unsupported_media_type') },
	)
}

async function files(visit: Visit): Promise<void> {
	const photo = bytesOf(visit.random, 4_000)
	const body = Buffer.concat([
		Buffer.from(
			`--${BOUNDARY}\r\nContent-Disposition: form-data; name="caption"\r\n\r\nHome\r\n--${BOUNDARY}\r\n`,
		),
		Buffer.from(
			'Content-Disposition: form-data; name="photo"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
		),
		photo,
		Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
	])
	await visit.expect(
		visit.here,
		{
			method: 'PUT',
			path: '/forms/photo',
			headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
			body,
		},
		{
			status: 200,
			json: done({ caption: 'Home', name: 'a.png', type: 'image/png', sha256: digestOf(photo) }),
		},
	)
}

/** Bodies over the limit: a slightly larger one is skipped, a much larger one ends the connection. */
async function tooMuch(visit: Visit): Promise<void> {
	for (const length of [MAX_BODY + 1, MAX_BODY * 4]) {
		await visit.expect(
			visit.here,
			{ method: 'POST', path: '/forms/article', headers: FORM, body: Buffer.alloc(length, 'a') },
			{ status: 413, json: refused('content_too_large') },
		)
	}
	await visit.expect(
		visit.here,
		{ method: 'POST', path: '/forms/article', headers: FORM, body: 'title=ok' },
		{ status: 201 },
	)
}

async function streams(visit: Visit): Promise<void> {
	const count = 1 + visit.random(400)
	const numbers = Array.from({ length: count }, (_, number) => ({ number, square: number * number }))
	await visit.expect(
		visit.here,
		{ method: 'GET', path: `/streams/numbers/${count}` },
		{
			status: 200,
			headers: { 'transfer-encoding': 'chunked' },
			bytes: Buffer.from(JSON.stringify(done(numbers))),
		},
	)
	const body = bytesOf(visit.random, 3 * MAX_BODY)
	await visit.expect(
		visit.there,
		{ method: 'PUT', path: '/streams/upload', body },
		{ status: 200, json: done({ bytes: body.length, sha256: digestOf(body) }) },
	)
}

async function slow(visit: Visit): Promise<void> {
	const body = bytesOf(visit.random, 60_000)
	const upload = { method: 'PUT', path: '/streams/upload', body }
	visit.load.findings.sent()
	visit.check(visit.here, upload, await attempt(visit, dawdle(visit.here.port, upload)), {
		status: 200,
		json: done({ bytes: body.length, sha256: digestOf(body) }),
	})
	const title = word(visit.random, 8)
	const form = { method: 'POST', path: '/forms/article', headers: FORM, body: `title=${title}` }
	visit.load.findings.sent()
	visit.check(visit.there, form, await attempt(visit, dawdle(visit.there.port, form)), {
		status: 201,
		json: done({ title, rating: 3 }),
	})
}

/** Clients that leave. The verdict checks at the end that no stream and no socket is still open. */
async function departures(visit: Visit): Promise<void> {
	const feed = { method: 'GET', path: '/streams/feed' }
	visit.load.findings.sent()
	const seen = await attempt(visit, leaveAnswer(visit.here.port, feed, 40))
	visit.check(visit.here, feed, seen, { status: 200, headers: { 'transfer-encoding': 'chunked' } })
	const whole = JSON.stringify(done(Array.from({ length: 1_000 }, (_, number) => number)))
	visit.hold(whole.startsWith(seen.body.toString()), 'the feed begins otherwise', seen)
	const upload = { method: 'PUT', path: '/streams/upload', body: bytesOf(visit.random, 50_000) }
	visit.load.findings.sent()
	await leaveUpload(visit.there.port, upload)
}

/** An error without a response counts as a wrong answer. */
async function attempt<T>(visit: Visit, work: Promise<T>): Promise<T> {
	try {
		return await work
	} catch (error) {
		const got = error instanceof Error ? error : String(error)
		return visit.fail({ server: visit.here, problems: ['no answer'], got })
	}
}

function bytesOf(random: Random, length: number): Buffer {
	return Buffer.alloc(length, word(random, 61))
}

function digestOf(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex')
}

export const BODIES: readonly Kind[] = [
	{ name: 'forms', weight: 5, requests: 4, visit: forms },
	{ name: 'files', weight: 4, requests: 1, visit: files },
	{ name: 'too-much', weight: 2, requests: 3, visit: tooMuch },
	{ name: 'streams', weight: 4, requests: 2, visit: streams },
	{ name: 'slow', weight: 2, requests: 2, visit: slow },
	{ name: 'departures', weight: 2, requests: 2, visit: departures },
]
