import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import { loggedPath, parseTarget } from '../../lib/request/url.ts'
import { CODE_POINT } from '../helpers/any-text.ts'
import { describe } from '../helpers/describe.ts'

const ESCAPE =
	'400 The path holds a malformed percent escape: write % as %25, and other characters as escaped UTF-8'
const CONTROL = '400 The path holds a control character'
const ASCII = '400 The path holds a character that must be percent-encoded'
const FORM = '400 The request-target must be a path that begins with /'

/** The parts of a target, or the refusal. */
function read(target: string): unknown {
	try {
		return parseTarget(target)
	} catch (error) {
		if (isRestError(error)) return `${error.status} ${error.message}`
		throw error
	}
}

describe('url', (test) => {
	const paths: [string, string[], string][] = [
		['/', [], ''],
		['/a', ['a'], ''],
		['/a/b/c', ['a', 'b', 'c'], ''],
		['/a/', ['a'], ''],
		['/a/b/', ['a', 'b'], ''],
		['/?', [], ''],
		['/?a=1', [], 'a=1'],
		['/a?b=%zz&c', ['a'], 'b=%zz&c'],
		['/a/?b', ['a'], 'b'],
		['/a?b?c/d', ['a'], 'b?c/d'],
		['/a?b#c', ['a'], 'b#c'],
		['/a%20b', ['a b'], ''],
		['/a+b', ['a+b'], ''],
		['/a%2Fb/c', ['a/b', 'c'], ''],
		['/a%2fb', ['a/b'], ''],
		['/%252F', ['%2F'], ''],
		['/%25', ['%'], ''],
		['/%3F%23%5C', ['?#\\'], ''],
		['/%C3%A9', ['é'], ''],
		['/%F0%9F%91%8D', ['👍'], ''],
		['/a/%20', ['a', ' '], ''],
		['/a%20b/c%20d', ['a b', 'c d'], ''],
		['/./../a', ['.', '..', 'a'], ''],
		['/%2e%2e', ['..'], ''],
		["/a:b@c;d=1,2!$&'()*~_-.", ["a:b@c;d=1,2!$&'()*~_-."], ''],
		['/__proto__/constructor', ['__proto__', 'constructor'], ''],
		['/{a}|^`"<>', ['{a}|^`"<>'], ''],
	]
	for (const [target, segments, query] of paths) {
		test(`${target} is ${JSON.stringify(segments)} and query "${query}"`, () => {
			assert.equal(read(target), { segments, query, authority: undefined })
		})
	}

	const absolutes: [string, string[], string, string][] = [
		['http://example.org', [], '', 'example.org'],
		['http://example.org/', [], '', 'example.org'],
		['http://example.org?a', [], 'a', 'example.org'],
		['http://example.org/?a=http://other/', [], 'a=http://other/', 'example.org'],
		['HTTPS://Example.org:8443/a/b?c', ['a', 'b'], 'c', 'Example.org:8443'],
		['http://[::1]:80/a', ['a'], '', '[::1]:80'],
	]
	for (const [target, segments, query, authority] of absolutes) {
		test(`the authority of ${target} is ${authority}`, () => {
			assert.equal(read(target), { segments, query, authority })
		})
	}

	const refusals: [string, string][] = [
		['', FORM],
		['*', FORM],
		['a/b', FORM],
		['?a', FORM],
		['ftp://example.org/', FORM],
		['http:/a', FORM],
		['http://', FORM],
		['http:///a', FORM],
		['http://user@example.org/', FORM],
		['http://exa mple.org/', FORM],
		['http://exa\nmple.org/', FORM],
		['http://a"b/', FORM],
		['http://:80/', FORM],
		['http://a:b/', FORM],
		['http://a:1:2/', FORM],
		['http://a:123456/', FORM],
		['http://[/', FORM],
		['http://[::1/', FORM],
		['http://a]b/', FORM],
		['http://::1/', FORM],
		['http://example.org#a', FORM],
		['http://example.org\\a', FORM],
		['example.org:443', FORM],
		['/%', ESCAPE],
		['/%2', ESCAPE],
		['/%zz', ESCAPE],
		['/a/%C3', ESCAPE],
		['/%C0%AF', ESCAPE],
		['/%ED%A0%80', ESCAPE],
		['/%FF', ESCAPE],
		['/%00', CONTROL],
		['/a%0Ab', CONTROL],
		['/a%0D%0Ab', CONTROL],
		['/%1F', CONTROL],
		['/%7F', CONTROL],
		['/a b', ASCII],
		['/a\tb', ASCII],
		['/a\u0000b', ASCII],
		['/a\u007fb', ASCII],
		['/é', ASCII],
		['/\u{1f44d}', ASCII],
		['//', '404 Not Found'],
		['//evil/p', '404 Not Found'],
		['/a//b', '404 Not Found'],
		['/a//', '404 Not Found'],
		['/a//?b', '404 Not Found'],
		['http://example.org//a', '404 Not Found'],
		['/a#b', '404 Not Found'],
		['/a\\b', '404 Not Found'],
		['/#', '404 Not Found'],
	]
	for (const [target, refusal] of refusals) {
		test(`${JSON.stringify(target)} is refused: ${refusal}`, () => assert.is(read(target), refusal))
	}

	test('encoded segments are decoded unchanged, whatever they contain', () => {
		const text = fc.string({ unit: CODE_POINT, minLength: 1, maxLength: 8 }).filter((s) => !/\p{Cs}/u.test(s))
		const segment = text.filter((s) => !/[\x00-\x1f\x7f]/.test(s))
		fc.assert(
			fc.property(fc.array(segment), (segments) => {
				const target = `/${segments.map(encodeURIComponent).join('/')}`
				assert.equal(parseTarget(target).segments, segments)
			}),
			{ numRuns: 100 },
		)
	})

	test('any string is parsed or refused with 400 or 404', () => {
		fc.assert(
			fc.property(fc.string({ unit: CODE_POINT }), fc.constantFrom('', '/', 'http://', '/%'), (s, head) => {
				const answer = read(head + s)
				assert.ok(typeof answer === 'object' || /^40[04] /.test(String(answer)))
			}),
			{ numRuns: 300 },
		)
	})
})

describe('url: the path in logs', (test) => {
	const targets: [target: string, logged: string][] = [
		['/a/b', '/a/b'],
		['/a%20b/?token=secret', '/a%20b/'],
		['/a?b?c#d', '/a'],
		['/a#token=secret', '/a'],
		['/a:b@c//d', '/a:b@c//d'],
		['//user:secret@host/a', '//user:secret@host/a'],
		['http://user:secret@host/a?b', '/a'],
		['http://host', '/'],
		['http://host?secret', '/'],
		['HTTPS://user:se@cret@host/a//b', '/a//b'],
		['*', '*'],
		['', '/'],
		['/a\u009b31m\x85', '/a%9B31m%85'],
		['/a\r\nb c', '/a%0D%0Ab%20c'],
	]
	for (const [target, logged] of targets) {
		test(`${JSON.stringify(target)} is ${logged}`, () => {
			assert.is(loggedPath(target), logged)
		})
	}
})
