/** Keys of custom routes: their syntax, and the messages for invalid ones. */
import * as assert from 'uvu/assert'
import { type Part, type Pattern, parseRoute } from '../../../lib/routing/custom/pattern.ts'
import { describe } from '../../helpers/describe.ts'

/** A pattern as `['page-', 'number', '']` for each segment that has placeholders. */
function shown(pattern: Pattern): (string | string[])[] {
	return pattern.map((part: Part) => {
		if (typeof part === 'string') return part
		const infixes: string[] = []
		for (let { infix } = part.shape; infix !== undefined; infix = infix.left) infixes.unshift(infix.text)
		const literals = [...infixes, part.suffix]
		return [part.prefix, ...part.shape.kinds.flatMap((kind, at) => [kind, literals[at] ?? ''])]
	})
}

describe('parseRoute: methods', (test) => {
	const table: [string, string[]][] = [
		['GET a', ['GET']],
		['QUERY a', ['QUERY']],
		['POST|GET a', ['POST', 'GET']],
		['PUT|PATCH|DELETE|QUERY a', ['PUT', 'PATCH', 'DELETE', 'QUERY']],
		['ALL a', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
	]
	for (const [key, methods] of table) {
		test(`${key} → ${methods.join(' ')}`, () => assert.equal(parseRoute(key).methods, methods))
	}
})

describe('parseRoute: patterns', (test) => {
	const table: [string, (string | string[])[]][] = [
		['a', ['a']],
		['/a', ['a']],
		['a/b-c/d.e', ['a', 'b-c', 'd.e']],
		['custom/%s/page/%d', ['custom', ['', 'text', ''], 'page', ['', 'number', '']]],
		['page-%d', [['page-', 'number', '']]],
		['%s.%s', [['', 'text', '.', 'text', '']]],
		['v%d.%d-%s!', [['v', 'number', '.', 'number', '-', 'text', '!']]],
		['100%%', ['100%']],
		['%%s', ['%s']],
		['%%%s%%%d%%', [['%', 'text', '%', 'number', '%']]],
		['a b', ['a b']],
		['naïve-✓', ['naïve-✓']],
		['...', ['...']],
		['%s..', [['', 'text', '..']]],
		['ALL|x&y=*', ['ALL|x&y=*']],
		['articles:batch', ['articles:batch']],
		['at:5', ['at:5']],
		[':5', [':5']],
	]
	for (const [pattern, expected] of table) {
		test(`${pattern} → ${JSON.stringify(expected)}`, () => {
			assert.equal(shown(parseRoute(`GET ${pattern}`).pattern), expected)
		})
	}

	test('shapes that split alike have one name, whatever their literal text', () => {
		const names = ['GET ab-%d', 'GET xyz%d', 'GET abc%d', 'GET abc%s'].map((key) => {
			const part = parseRoute(key).pattern[0]
			return typeof part === 'object' ? part.shape.name : ''
		})
		assert.equal(names, ['0/3/0/number/', '0/3/0/number/', '0/3/0/number/', '0/3/0/text/'])
	})
})

describe('parseRoute: refusals', (test) => {
	const example = "write '<METHODS> <pattern>', such as 'GET|POST articles/%d'"
	const methods = 'use GET, POST, PUT, PATCH, DELETE, QUERY, several joined by |, or ALL'
	const space = 'exactly one space stands between methods and pattern, and none after it'
	const other = 'would be literal text, not a placeholder: write %s for text, %d for a number'
	const kinds = 'use %s for text, %d for a number, %% for a percent sign'
	const empty = 'the pattern is empty: name at least one segment'
	const hole = 'a segment is empty: write one slash between two segments'
	const control = 'URLs with control characters are refused: remove it'
	const odd = 'a pattern may not hold ?, # or \\, which no client sends in a path: remove'
	const table: [string, string][] = [
		['', example],
		['GET', example],
		['/articles', example],
		[' GET a', example],
		['GET\ta', example],
		['HEAD a', "HEAD is served by GET's route: write GET"],
		['GET|HEAD a', "HEAD is served by GET's route: write GET"],
		['OPTIONS a', 'OPTIONS is answered from the other routes: leave it out'],
		['get a', 'methods are written in capitals: GET, not get'],
		['GET|Post a', 'methods are written in capitals: POST, not Post'],
		['all a', 'methods are written in capitals: ALL, not all'],
		['TRACE a', `unknown method TRACE: ${methods}`],
		['GET|GTE a', `unknown method GTE: ${methods}`],
		['__proto__ a', `unknown method __proto__: ${methods}`],
		['GET||POST a', `a method is missing: ${methods}`],
		['|GET a', `a method is missing: ${methods}`],
		['GET| a', `a method is missing: ${methods}`],
		['GET,POST a', `unknown method GET,POST: ${methods}`],
		['GET|POST|GET a', 'GET is written twice: write it once'],
		['ALL|QUERY a', 'ALL stands alone: write ALL, or each method'],
		['GET|ALL a', 'ALL stands alone: write ALL, or each method'],
		['GET  a', space],
		['GET a ', space],
		['GET ', empty],
		['GET /', empty],
		['GET //', 'remove the trailing slash: URLs may have one anyway'],
		['GET a/', 'remove the trailing slash: URLs may have one anyway'],
		['GET //a', hole],
		['GET a//b', hole],
		['GET a\0b', control],
		['GET a\x7fb', control],
		['GET q?x', `${odd} ?`],
		['GET q/%s?page=%d', `${odd} ?`],
		['GET /q/%s#x', `${odd} #`],
		['GET a\\b?', `${odd} \\`],
		['GET custom/%x', `unknown placeholder %x: ${kinds}`],
		['GET %S', `unknown placeholder %S: ${kinds}`],
		['GET caf%C3%A9', `unknown placeholder %C: ${kinds}`],
		['GET 100%', `unknown placeholder %: ${kinds}`],
		['GET 100%/s', `unknown placeholder %: ${kinds}`],
		['GET %%%', `unknown placeholder %: ${kinds}`],
		['GET article/:id', `:id ${other}`],
		['GET :from-:to', `:from ${other}`],
		['GET page-:n', `:n ${other}`],
		['GET file.:ext', `:ext ${other}`],
		['GET article/{id}', `{id} ${other}`],
		['GET article/{id}.json', `{id} ${other}`],
		['GET {}', `{} ${other}`],
		['GET *', `* ${other}`],
		['ALL files/**', `** ${other}`],
		['GET files/*path', `*path ${other}`],
		['GET *.pdf', `* ${other}`],
		['GET %😀', `unknown placeholder %😀: ${kinds}`],
		['GET %s%d', 'two placeholders touch in %s%d: put text or a slash between them'],
		['GET a/x%d%d', 'two placeholders touch in x%d%d: put text or a slash between them'],
		['GET a/./b', 'a client resolves the segment . and never sends it: remove it'],
		['GET ..', 'a client resolves the segment .. and never sends it: remove it'],
	]
	for (const [key, why] of table) {
		test(`${JSON.stringify(key)} is refused: ${why}`, () => {
			try {
				parseRoute(key)
			} catch (error) {
				assert.instance(error, TypeError)
				assert.is((error as TypeError).message, `customRoutes['${key}']: ${why}`)
				return
			}
			assert.unreachable('it was accepted')
		})
	}
})
