/** How a method reads a body: body, post, files, getPutData, getRawPostData, rawBody. */
import * as assert from 'uvu/assert'
import { RestHandler } from '../../lib/index.ts'
import { asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const FORM = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
const JSON_TYPE = { headers: { 'content-type': 'application/json' } }
const MULTIPART = { headers: { 'content-type': 'multipart/form-data; boundary=X' } }
const UPLOAD = [
	'--X',
	'Content-Disposition: form-data; name=title',
	'',
	'Dune',
	'--X',
	'Content-Disposition: form-data; name=cover; filename="a.png"',
	'Content-Type: image/png',
	'',
	'PNG',
	'--X--',
].join('\r\n')

class Bodies extends RestHandler {
	override streaming = ['post_stream', 'post_stream_wrong']
	post_body() {
		return this.body === undefined ? 'undefined' : this.body
	}
	delete_body() {
		return this.post_body()
	}
	get_body() {
		return this.post_body()
	}
	post_post() {
		const { post } = this
		return [Object.getPrototypeOf(post) === null, { ...post }]
	}
	async post_files() {
		const files = Object.entries(this.files)
		return Promise.all(
			files.map(async ([field, [file]]) => [field, file?.name, file?.type, await file?.text()]),
		)
	}
	put_text() {
		return this.getPutData()
	}
	put_decoded() {
		return this.getPutData(true)
	}
	post_raw() {
		return [this.getRawPostData(), this.request.rawBody.length]
	}
	post_raw_decoded() {
		return this.getRawPostData(true)
	}
	post_lazy() {
		return 'never decoded'
	}
	post_twice() {
		const { body, post } = this
		return [body === this.body, post === this.post]
	}
	async post_stream() {
		let text = ''
		for await (const chunk of this.request.stream) text += String(chunk)
		return text
	}
	post_stream_wrong() {
		return this.request.rawBody
	}
	post_wrong() {
		return this.request.stream
	}
}

const { said, ask, logged } = asking({ b: new Bodies() })

describe('handler: body', (test) => {
	const table: [string, unknown, Parameters<typeof said>[1], string][] = [
		['POST /b/body', undefined, {}, ok('undefined')],
		['POST /b/body', '', JSON_TYPE, ok('undefined')],
		['POST /b/body', { a: [1] }, {}, ok({ a: [1] })],
		['POST /b/body', '[1]', JSON_TYPE, ok([1])],
		['POST /b/body', 'null', JSON_TYPE, ok(null)],
		['POST /b/body', '"a"', { headers: { 'content-type': 'application/vnd.api+json' } }, ok('a')],
		['POST /b/body', 'a=1&a=2', FORM, ok({ a: '2' })],
		['POST /b/body', UPLOAD, MULTIPART, ok({ title: 'Dune' })],
		['DELETE /b/body', { a: 1 }, {}, ok({ a: 1 })],
		['DELETE /b/body', undefined, {}, ok('undefined')],
		['GET /b/body', { a: 1 }, {}, ok('undefined')],
		['POST /b/post', undefined, {}, ok([true, {}])],
		['POST /b/post', { a: 1 }, {}, ok([true, { a: 1 }])],
		['POST /b/post', 'a=1', FORM, ok([true, { a: '1' }])],
		['POST /b/post', UPLOAD, MULTIPART, ok([true, { title: 'Dune' }])],
		['POST /b/files', UPLOAD, MULTIPART, ok([['cover', 'a.png', 'image/png', 'PNG']])],
		['POST /b/files', { a: 1 }, {}, ok([])],
		['POST /b/files', undefined, {}, ok([])],
		['PUT /b/text', 'é', {}, ok('é')],
		['PUT /b/text', undefined, {}, ok('')],
		['PUT /b/decoded', { a: 1 }, {}, ok({ a: 1 })],
		[
			'POST /b/raw',
			'é',
			{ headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' } },
			ok(['é', 2]),
		],
		['POST /b/raw', undefined, {}, ok(['', 0])],
		['POST /b/raw_decoded', '{"a":1}', { headers: { 'content-type': 'text/plain' } }, ok({ a: 1 })],
		['POST /b/lazy', 'anything', { headers: { 'content-type': 'image/png' } }, ok('never decoded')],
		['POST /b/twice', { a: 1 }, {}, ok([true, true])],
		['POST /b/stream', 'a stream', {}, ok('a stream')],
	]
	for (const [request, body, more, answer] of table) {
		test(`${request} of ${JSON.stringify(body)} → ${answer}`, async () => {
			assert.is(await said(request, { ...more, body }), answer)
		})
	}

	const refusals: [string, unknown, Parameters<typeof said>[1], string][] = [
		[
			'POST /b/body',
			'{"a":}',
			JSON_TYPE,
			'400 The body is malformed JSON at line 1, column 6: expected a value',
		],
		[
			'POST /b/body',
			'a',
			{},
			'415 The body has no Content-Type: send application/json, application/x-www-form-urlencoded or multipart/form-data',
		],
		[
			'POST /b/body',
			'a',
			{ headers: { 'content-type': 'text/plain' } },
			'415 The Content-Type of the body is not supported: send application/json, application/x-www-form-urlencoded or multipart/form-data',
		],
		[
			'POST /b/body',
			'{}',
			{ headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } },
			'415 The body must have no Content-Encoding',
		],
		[
			'PUT /b/decoded',
			'a',
			{},
			'415 The body has no Content-Type: send application/json, application/x-www-form-urlencoded or multipart/form-data',
		],
		['POST /b/post', '[1]', JSON_TYPE, '422 The body must be an object with named fields'],
		['POST /b/post', '"a"', JSON_TYPE, '422 The body must be an object with named fields'],
		['POST /b/post', 'null', JSON_TYPE, '422 The body must be an object with named fields'],
		['POST /b/post', '5', JSON_TYPE, '422 The body must be an object with named fields'],
		['POST /b/raw_decoded', undefined, {}, '400 The body is empty: JSON was expected'],
		['POST /b/raw_decoded', '\uFEFF', {}, '400 The body is empty: JSON was expected'],
		[
			'POST /b/raw_decoded',
			'',
			{ headers: { 'content-type': 'text/plain' } },
			'400 The body is empty: JSON was expected',
		],
		['POST /b/raw_decoded', '', JSON_TYPE, '400 The body is empty, but its Content-Type says JSON'],
		[
			'POST /b/raw_decoded',
			'',
			{ headers: { 'content-type': 'Application/vnd.api+JSON; charset' } },
			'400 The body is empty, but its Content-Type says JSON',
		],
		['POST /b/raw_decoded', 'a', {}, '400 The body is malformed JSON at line 1, column 1: expected a value'],
	]
	for (const [request, body, more, answer] of refusals) {
		test(`${request} of ${body} → ${answer}`, async () => {
			const { status, json } = await ask(request, { ...more, body })
			assert.is(`${status} ${(json() as { error: string }).error}`, answer)
		})
	}

	test('a 415 lists the accepted types', async () => {
		const { headers } = await ask('POST /b/body', { body: 'a' })
		assert.is(headers.accept, 'application/json, application/x-www-form-urlencoded, multipart/form-data')
	})

	const mistakes: [string, string][] = [
		[
			'POST /b/stream_wrong',
			"post_stream_wrong is listed in `streaming`, so its body isn't buffered: read this.request.stream instead",
		],
		['POST /b/wrong', 'list post_wrong in `streaming` to read its body as a stream'],
	]
	for (const [request, message] of mistakes) {
		test(`${request} is a mistake in the method: ${message}`, async () => {
			assert.is((await ask(request, { body: 'a' })).status, 500)
			assert.is(logged(), message)
		})
	}
})
