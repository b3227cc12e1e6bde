import * as assert from 'uvu/assert'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Echo, NOT_ALLOWED, NOT_FOUND } from './echo.ts'

describe('answer: the lookup', (test) => {
	const { said } = asking({ 'blog/api': new Echo() })
	const answers: [string, string][] = [
		['/blog/api/article', ok(['get_article', null])],
		['/blog/api/article/5', ok(['get_article', '5'])],
		['/blog/api/article/5/', ok(['get_article', '5'])],
		['/blog/api/article/', ok(['get_article', null])],
		['/blog/api/article/a%20b', ok(['get_article', 'a b'])],
		['/blog/api/article/a%2Fb', ok(['get_article', 'a/b'])],
		['/blog/api/article/%252F', ok(['get_article', '%2F'])],
		['/blog/api/article/..', ok(['get_article', '..'])],
		['/blog/api/article?a=1', ok(['get_article', null])],
		['/blog/api/article/5/6', NOT_FOUND],
		['POST /blog/api/article', ok(['post_article', 'POST'])],
		['POST /blog/api/article/5', NOT_ALLOWED],
		['DELETE /blog/api/article/5', ok(['delete_article', '5'])],
		['DELETE /blog/api/article', ok(['delete_article', null])],
		['QUERY /blog/api/search/a/b', ok(['query_search', 'a', 'b'])],
		['/blog/api/blog_post', ok('get_blog_post')],
		['/blog/api/blog-post', ok('get_blog_post')],
		['/blog/api/blog_post/5', NOT_FOUND],
		['/blog/api/waits/1', ok(['get_waits', '1'])],
		['/blog/api/waits/1/2', NOT_FOUND],
		['/blog/api/rest/1/2/3', ok(['get_rest', '1', '2', '3'])],
		['/blog/api/first/1/2/3', ok(['get_first', '1', ['2', '3']])],
		['/blog/api/first', ok(['get_first', null, []])],
		['/blog/api/default', ok(['get_default', 'none'])],
		['/blog/api/default/1/2', ok(['get_default', '1'])],
		['/blog/api/quoted-name/1', ok(['get_quoted-name', '1'])],
		['/blog/api/quoted-name/1/2', NOT_FOUND],
		['/blog/api/quoted_name/1', NOT_FOUND],
		['/blog/api/commented/1', ok(['get_commented', '1'])],
		['/blog/api/commented/1/2', NOT_FOUND],
		['/blog/api/arguments/1/2', ok(['get_arguments', '1', '2'])],
		['http://example.org/blog/api/article/5', ok(['get_article', '5'])],
	]
	for (const [request, answer] of answers) {
		test(`${request} → ${answer}`, async () => assert.is(await said(request), answer))
	}

	for (const path of [
		'/',
		'/blog',
		'/blog/ap',
		'/blog/api2/article',
		'/blog%2Fapi/article',
		'/blog/api',
		'/blog/api/',
		'/blog/api/nothing',
		'/blog/api/Article',
		'/Blog/api/article',
		'/blog/api//article',
		'//blog/api/article',
		'/blog/api/article//',
		'/blog/api/article#a',
		'/blog\\api/article',
		'/blog/api/helper',
		'/blog/api/_hidden',
		'/blog/api/hidden',
		'/blog/api/secret',
		'/blog/api/_default',
		'/blog/api/constructor',
		'/blog/api/__proto__',
		'/blog/api/toString',
		'/blog/api/page',
		'/blog/api/init',
		'/blog/api/request',
		'/blog/api/./article',
		'/blog/../blog/api/article',
	]) {
		for (const method of ['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS']) {
			test(`${method} ${path} is 404`, async () => {
				assert.is(await said(`${method} ${path}`), method === 'HEAD' ? '404 ' : NOT_FOUND)
			})
		}
	}

	test('a malformed path is 400', async () => {
		for (const path of ['/blog/api/article/%', '/blog/api/article/%00', '/blog/api/é', 'article', '*']) {
			assert.match(await said(`GET ${path}`), /^400 \{"success":false,"error":"The /)
		}
	})
})

describe('answer: custom routes', (test) => {
	const { said } = asking({ 'blog/api': new Echo() })
	const answers: [string, string][] = [
		['/blog/api/custom/a%20b/page/7', ok(['page', 'a b', 7])],
		['/blog/api/custom/a%2Fb/page/-7', ok(['page', 'a/b', -7])],
		['POST /blog/api/custom/a/page/7', ok(['page', 'a', 7])],
		['PUT /blog/api/custom/a/page/7', NOT_ALLOWED],
		['/blog/api/custom/a/page/x', NOT_FOUND],
		['/blog/api/custom/a/page/7/8', NOT_FOUND],
		['/blog/api/ping', ok('ping GET')],
		['PATCH /blog/api/ping', ok('ping PATCH')],
		['QUERY /blog/api/ping', NOT_ALLOWED],
		['PUT /blog/api/article/5', ok(['replace', 5])],
		['PUT /blog/api/article/x', NOT_ALLOWED],
		['/blog/api/files/a', ok(['file', 'a'])],
		['/blog/api/files', ok('never, as a custom route comes first')],
		['PATCH /blog/api/files/a/b', ok(['patch_files', 'a', 'b'])],
	]
	for (const [request, answer] of answers) {
		test(`${request} → ${answer}`, async () => assert.is(await said(request), answer))
	}
})
