import * as assert from 'uvu/assert'
import { nextLink, pathOf, recordUrl } from '../../lib/crud/link.ts'
import { describe } from '../helpers/describe.ts'

describe('crud/link', (test) => {
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

	test("a record's URL is below the path, its id one segment", () => {
		assert.is(recordUrl('/article/?fields=id', 'a/b ü'), '/article/a%2Fb%20%C3%BC')
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
