/** Requests to the apps of `apps.ts`, with the expected status. */
import type { Site } from '../helpers/listening.ts'
import { type AppName, TOKEN } from './apps.ts'

export interface Call {
	readonly request: string
	readonly status: number
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: unknown
}

/** Sends all of them, one after the other; throws at an unexpected status. */
export async function callAll({ url }: Site, calls: readonly Call[]): Promise<void> {
	for (const { request, status, headers = {}, body } of calls) {
		const [method = '', target = ''] = request.split(' ')
		const json = { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } }
		const response = await fetch(url + target, { method, headers, ...(body === undefined ? {} : json) })
		const text = await response.text()
		if (response.status !== status)
			throw new Error(`${request} is answered ${response.status}, not ${status}: ${text}`)
	}
}

function articles(path: string): Call[] {
	return [
		{ request: `GET ${path}`, status: 200 },
		{
			request: `GET ${path}?limit=2&sort=-title,id&count=exact&state=draft&title[contains]=Tit`,
			status: 200,
		},
		{ request: `GET ${path}?fields=id,title&search=Title`, status: 200 },
		{ request: `GET ${path}?limit=0`, status: 200 },
		{ request: `GET ${path}?nothing=1`, status: 400 },
		{ request: `GET ${path}?limit=x`, status: 400, headers: { Accept: 'application/problem+json' } },
		{ request: `POST ${path}`, status: 201, body: { title: 'New', secretNote: 'MARKER', publishedAt: null } },
		{ request: `POST ${path}`, status: 422, body: { title: '', price: true, nothing: 1 } },
		{ request: `POST ${path}`, status: 415, body: {}, headers: { 'Content-Type': 'text/plain' } },
		{ request: `GET ${path}/1`, status: 200 },
		{ request: `HEAD ${path}/1`, status: 200 },
		{ request: `GET ${path}/1?fields=title`, status: 200 },
		{ request: `GET ${path}/1`, status: 304, headers: { 'If-None-Match': '"1"' } },
		{ request: `GET ${path}/99`, status: 404 },
		{ request: `PATCH ${path}/1`, status: 200, body: { body: 'Text', id: 1 } },
		{ request: `PATCH ${path}/1`, status: 412, body: { body: 'Text' }, headers: { 'If-Match': '"1"' } },
		{ request: `PUT ${path}/2`, status: 200, body: { title: 'Other', state: 'public' } },
		{ request: `PUT ${path}/2`, status: 422, body: {} },
		{ request: `DELETE ${path}/3`, status: 200 },
		{ request: `DELETE ${path}/3`, status: 404 },
		{
			request: `POST ${path}/2`,
			status: 200,
			body: { body: null },
			headers: { 'X-HTTP-Method-Override': 'PATCH' },
		},
	]
}

const headers = { Authorization: `Bearer ${TOKEN}` }
const body = { text: 'Hello' }

export const CALLS: Readonly<Record<AppName, readonly Call[]>> = {
	plain: [
		...articles('/blog/articles'),
		{ request: 'GET /greeting', status: 200 },
		{ request: 'GET /greeting/Ann', status: 200 },
		{ request: 'POST /greeting', status: 201, body: { name: 'Ann', kind: 'warm', tags: ['a'], more: 1 } },
		{ request: 'POST /greeting', status: 422, body: { name: 7 } },
		{ request: 'GET /search?term=tea&tags=a&tags=b', status: 200 },
		{ request: 'GET /search', status: 422 },
		{ request: 'GET /echo/a/b/c', status: 200 },
		{ request: 'GET /blog_post/0', status: 404 },
		{ request: 'GET /blog_post/5', status: 200 },
		{ request: 'GET /greet/Ann/page-3', status: 200 },
		{ request: 'PUT /file/a', status: 200, body: { a: 1 }, headers: { 'Content-Type': 'text/plain' } },
		{ request: 'GET /nowhere', status: 404 },
	],
	based: articles('/api/public/v1/articles'),
	bare: [
		{ request: 'GET /articles?limit=2', status: 200 },
		{ request: 'GET /articles/1', status: 200 },
		{ request: 'GET /articles/x', status: 404 },
		{ request: 'POST /articles', status: 422, body: {} },
		{ request: 'POST /articles', status: 201, body: { title: 'New' } },
		{ request: 'GET /greet/greeting', status: 200 },
		{ request: 'GET /greet/blog_post/0', status: 404 },
	],
	guarded: [
		{ request: 'GET /notes/open', status: 200 },
		{ request: 'GET /notes/open', status: 401, headers: { Authorization: 'Bearer wrong' } },
		{ request: 'GET /notes/mine', status: 401 },
		{ request: 'GET /notes/mine', status: 200, headers },
		{ request: 'POST /notes/note', status: 200, headers: { ...headers, 'Idempotency-Key': 'k1' }, body },
		{ request: 'POST /notes/note', status: 200, headers: { ...headers, 'Idempotency-Key': 'k1' }, body },
		{
			request: 'POST /notes/note',
			status: 422,
			headers: { ...headers, 'Idempotency-Key': 'k1' },
			body: { text: 'x' },
		},
		{ request: 'POST /notes/note', status: 200, headers, body },
		{ request: 'POST /notes/note', status: 200, headers, body },
		{ request: 'POST /notes/note', status: 429, headers, body },
		{ request: 'GET /signed/mine', status: 401 },
	],
	related: [
		{ request: 'GET /articles?include=author,comments.author&count=1', status: 200 },
		{ request: 'GET /articles/1', status: 200 },
		{
			request: `GET /articles/1?include=${encodeURIComponent(
				'{"comments":{"limit":1,"sort":"-id","count":2},"author":{"include":["articles"]}}',
			)}`,
			status: 200,
		},
		{ request: 'GET /comments?fields=text,author.name', status: 200 },
		{ request: 'GET /comments?include=author.articles', status: 200 },
		{ request: 'GET /comments?include=nothing', status: 400 },
		{ request: 'POST /articles?include=author', status: 201, body: { title: 'Rue', authorId: 2 } },
		{ request: 'PATCH /articles/1?include=comments', status: 200, body: { title: 'Mint' } },
		{ request: 'GET /articles/1/comments?include=author&limit=1&count=2', status: 200 },
		{ request: 'GET /articles/1/comments?sort=-id&text[contains]=Com', status: 200 },
		{ request: 'GET /articles/99/comments', status: 404 },
		{
			request: 'POST /articles/1/comments?include=article',
			status: 201,
			body: { text: 'Mine', authorId: 1 },
		},
		{ request: 'POST /articles/1/comments', status: 422, body: { authorId: 1 } },
		{ request: 'GET /articles/1/author?include=articles', status: 200 },
		{ request: 'GET /articles/2/author', status: 404 },
		{ request: 'PUT /articles/1/tags/2', status: 204 },
		{ request: 'GET /articles/1/tags', status: 200 },
		{ request: 'GET /articles/1?include=tags', status: 200 },
		{ request: 'DELETE /articles/1/tags/2', status: 204 },
		{ request: 'DELETE /articles/1/tags/2', status: 404 },
		{ request: 'DELETE /comments/3?include=article', status: 200 },
	],
	schemas: [
		{ request: 'POST /api/zod', status: 200, body: { title: 'A', email: 'a@example.org' } },
		{ request: 'POST /api/zod', status: 422, body: {} },
		{ request: 'POST /api/ark', status: 200, body: { title: 'Ab', rating: 5, kind: 'a' } },
		{ request: 'POST /api/valibot', status: 200, body: { title: 'A' } },
		{
			request: 'POST /api/mixed',
			status: 200,
			body: {
				tree: { name: 'a', parts: [{ name: 'b', parts: [] }] },
				again: { name: 'c', parts: [] },
				tag: 't',
			},
		},
		{ request: 'GET /api/zod?page=3', status: 200 },
		{ request: 'GET /api/tree', status: 200 },
		{ request: 'POST /api/tree', status: 201 },
		{ request: 'DELETE /api/tree', status: 204 },
		{ request: 'GET /api/picture', status: 200 },
		{ request: 'GET /api/table', status: 200 },
		{ request: 'GET /api/old', status: 200 },
	],
}
