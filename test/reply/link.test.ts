import * as assert from 'uvu/assert'
import { nextLink, pathOf, recordUrl } from '../../lib/reply/link.ts'
import { describe } from '../helpers/describe.ts'

describe('reply/link', (test) => {
	const paths: [string, string][] = [
		['/blog/article', '/blog/article'],
		['/blog/article/?a=1', '/blog/article'],
		['//evil.example/x', '/evil.example/x'],
		['http://evil.example/blog/article?x', '/blog/article'],
		['HTTPS://evil.example?x', ''],
		['/', ''],
		['/a//b', '/a//b'],
		['/a/b//', '/a/b'],
		['///evil.example', '/evil.example'],
		['/a>b"c', '/a%3Eb%22c'],
		['/a?u=http://x/y', '/a'],
	]
	for (const [target, path] of paths) {
		test(`the path of ${target} is ${path}`, () => assert.is(pathOf(target), path))
	}

	const records: [{ url: string; originalUrl?: string }, readonly string[], string][] = [
		[{ url: '/article/?fields=id' }, ['article'], '/article/7'],
		[{ url: '/article/make/one' }, ['article'], '/article/7'],
		[{ url: 'http://evil.example/x/article/make' }, ['x', 'article'], '/x/article/7'],
		[{ url: '/%62log/%C3%BC/new' }, ['blog', 'ü'], '/blog/%C3%BC/7'],
		[{ url: '/make' }, [], '/7'],
		[{ url: '/' }, [], '/7'],
		[{ url: '/article/make', originalUrl: '/shop/api/article/make' }, ['article'], '/shop/api/article/7'],
		[{ url: '/article?a', originalUrl: '/shop//api/article/?a' }, ['article'], '/shop//api/article/7'],
		[{ url: '/', originalUrl: '/shop' }, [], '/shop/7'],
		[{ url: '/?a', originalUrl: '//shop?a' }, [], '/shop/7'],
		[{ url: '/article', originalUrl: '/article' }, ['article'], '/article/7'],
		[{ url: '/article', originalUrl: '/rewritten' }, ['article'], '/article/7'],
	]
	for (const [incoming, path, url] of records) {
		const { originalUrl = 'itself', url: own } = incoming
		test(`a record created by ${own} of ${originalUrl} is at ${url}`, () =>
			assert.is(recordUrl(incoming, path, '7'), url))
	}

	test("the path is percent-encoded, the record's segment already is", () => {
		assert.is(recordUrl({ url: '/x' }, ['ü x'], 'a%2Fb,c'), '/%C3%BC%20x/a%2Fb,c')
	})

	const links: [string, string][] = [
		['', '</a?cursor=C>; rel="next"'],
		['limit=2&sort=-id', '</a?limit=2&sort=-id&cursor=C>; rel="next"'],
		['cursor=B&limit=2', '</a?limit=2&cursor=C>; rel="next"'],
		['%63ursor=B&off%73et=4&&x=1', '</a?x=1&cursor=C>; rel="next"'],
		['title=a>b"', '</a?title=a%3Eb%22&cursor=C>; rel="next"'],
		['cursor&offset&cursor==&a=', '</a?a=&cursor=C>; rel="next"'],
		['cursors=1', '</a?cursors=1&cursor=C>; rel="next"'],
	]
	for (const [query, link] of links) {
		test(`the link from ?${query} is ${link}`, () => assert.is(nextLink('/a?x', query, 'C'), link))
	}
})
