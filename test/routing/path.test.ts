import * as assert from 'uvu/assert'
import { parsePath } from '../../lib/routing/path.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

describe('mount/path', (test) => {
	const paths: [string, string[]][] = [
		['', []],
		['/', []],
		['blog', ['blog']],
		['/blog', ['blog']],
		['blog/', ['blog']],
		['/blog/api/', ['blog', 'api']],
		['blog/api/v2', ['blog', 'api', 'v2']],
		['блог', ['блог']],
		["a:b@c;d=1,2!$&'()*+~_-.", ["a:b@c;d=1,2!$&'()*+~_-."]],
	]
	for (const [path, segments] of paths) {
		test(`"${path}" is ${JSON.stringify(segments)}`, () =>
			assert.equal(parsePath('the handler path', path), segments))
	}

	const HOLDS = 'may not hold ?, #, %, \\, blanks or control characters'
	const refusals: [unknown, string][] = [
		['//', 'the handler path "//" has an empty segment'],
		['a//b', 'the handler path "a//b" has an empty segment'],
		['//a', 'the handler path "//a" has an empty segment'],
		['a//', 'the handler path "a//" has an empty segment'],
		['///', 'the handler path "///" has an empty segment'],
		['.', 'the handler path "." has a dot segment, which clients resolve before they ask'],
		['a/../b', 'the handler path "a/../b" has a dot segment, which clients resolve before they ask'],
		['a?b', `the handler path "a?b" ${HOLDS}`],
		['a#b', `the handler path "a#b" ${HOLDS}`],
		['a%20b', `the handler path "a%20b" ${HOLDS}`],
		['a\\b', `the handler path "a\\\\b" ${HOLDS}`],
		['a b', `the handler path "a b" ${HOLDS}`],
		['a\n', `the handler path "a\\n" ${HOLDS}`],
		['a\u007f', `the handler path "a\u007f" ${HOLDS}`],
		[undefined, 'the handler path must be a string, got undefined'],
		[5, 'the handler path must be a string, got number'],
	]
	for (const [path, message] of refusals) {
		test(`${JSON.stringify(path)} is refused: ${message}`, () => {
			assert.is(
				messageOf(() => parsePath('the handler path', path)),
				message,
			)
		})
	}

	test('the message names what the path is of', () => {
		assert.is(
			messageOf(() => parsePath('base', 'a//b')),
			'base "a//b" has an empty segment',
		)
	})
})
