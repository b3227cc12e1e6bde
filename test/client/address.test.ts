import * as assert from 'uvu/assert'
import { collectionUrl, type Id, idSegment } from '../../lib/client/address.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('client: URL of a collection', (test) => {
	const good: [string, string, string][] = [
		['article', '/blog', '/blog/article'],
		['article', '/blog/', '/blog/article'],
		['article', '/blog/api/v2', '/blog/api/v2/article'],
		['article', '', '/article'],
		['article', '/', '/article'],
		['article', '/.well-known/blog', '/.well-known/blog/article'],
		['article', '/caf%C3%A9', '/caf%C3%A9/article'],
		['%2e%2e%2e', '/%2ewell', '/%2ewell/%2e%2e%2e'],
		['article-2', 'https://example.org', 'https://example.org/article-2'],
		['article', 'https://example.org/', 'https://example.org/article'],
		['article', 'HTTP://[::1]:3000/blog/', 'HTTP://[::1]:3000/blog/article'],
	]
	for (const [name, endpoint, url] of good) {
		test(`${name} at ${JSON.stringify(endpoint)} is ${url}`, () =>
			assert.is(collectionUrl(name, endpoint), url))
	}

	const endpoints: unknown[] = [
		...['blog', '//evil.example/blog', '/blog//api', 'ftp://example.org', 'https://', 'https:/example.org'],
		...[
			'/blog?x=1',
			'/blog#top',
			'/a/../b',
			'/a/..',
			'/./a',
			'/a/%2E%2e/b',
			'/a/.%2e',
			'/a b',
			'/a\\b',
			'/a\n',
			'https://u:p@example.org',
			'http://a:99999',
			'http://[',
			'http://%',
			'http://1.2.3.4.5',
		],
		...['javascript:alert(1)', undefined, null, 5, {}],
	]
	for (const endpoint of endpoints) {
		test(`the endpoint ${JSON.stringify(endpoint)} is refused`, () => {
			const shown = typeof endpoint === 'string' ? JSON.stringify(endpoint) : String(endpoint)
			assert.is(
				messageOf(() => collectionUrl('article', endpoint as string)),
				`a CrudClient's endpoint must be a path, like '/blog', or 'https://example.org/blog', got ${shown}`,
			)
		})
	}

	for (const name of [
		'',
		'.',
		'..',
		'%2e.',
		'%2E%2E',
		'a/b',
		'a?b',
		'a#b',
		'a b',
		'a\\b',
		'/article',
		undefined,
		7,
	]) {
		test(`the name ${JSON.stringify(name)} is refused`, () => {
			assert.match(
				messageOf(() => collectionUrl(name as string, '/blog')),
				"a CrudClient's name must be one segment of a URL, like 'article', got ",
			)
		})
	}
})

describe('client: an id', (test) => {
	const good: [Id, string][] = [
		['5', '5'],
		[5, '5'],
		[0, '0'],
		[-1, '-1'],
		[9_007_199_254_740_993n, '9007199254740993'],
		['a/b', 'a%2Fb'],
		['../secret', '..%2Fsecret'],
		['...', '...'],
		['%2e%2e', '%252e%252e'],
		['a?b#c', 'a%3Fb%23c'],
		['ü 😀', '%C3%BC%20%F0%9F%98%80'],
		['\0', '%00'],
		['undefined', 'undefined'],
	]
	for (const [id, segment] of good) {
		test(`${JSON.stringify(String(id))} is the segment ${segment}`, () => assert.is(idSegment(id), segment))
	}

	const bad: unknown[] = [
		'',
		'.',
		'..',
		'\ud800',
		'a\udc00',
		NaN,
		Infinity,
		1.5,
		2 ** 53,
		undefined,
		null,
		{},
		['5'],
		true,
	]
	for (const id of bad) {
		test(`${typeof id} ${JSON.stringify(id)} is refused`, () => {
			assert.match(
				messageOf(() => idSegment(id as Id)),
				/^an id must be text other than '', '\.' and '\.\.', a bigint or a whole number within ±2\^53, got /,
			)
		})
	}
})
