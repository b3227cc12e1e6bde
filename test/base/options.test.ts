import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import * as options from '../../lib/base/options.ts'
import { createServer, RestHandler } from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const { entriesOf, flag, functionLike, listOf, nearest, nested, numberIn, oneOf, optional, or } = options
const { optionsOf, such, text, wholeNumber, withMethods } = options

class Empty extends RestHandler {}

/** The error for wrong options, as one text. */
function refusal(given: unknown): string {
	const readers = {
		max: optional(wholeNumber({ from: 1, to: 10, unit: 'bytes' })),
		waitSeconds: or(numberIn({ above: 0, to: 60 }), 5),
		share: optional(numberIn({ from: 0.5, orInfinity: true })),
		isOpen: or(flag, false),
		prefix: or(text, 'a:'),
		kind: or(oneOf('fixed', 'sliding'), 'fixed'),
		clock: optional(functionLike<() => number>('() => milliseconds')),
		names: or(listOf("a list of names: ['a']", text), []),
		cache: optional(withMethods<object>('get', 'set')),
		even: optional(such<number>('an even number', (value) => Number(value) % 2 === 0)),
		inner: optional(nested('{ a: 1 }', { a: optional(wholeNumber({})), delaySeconds: or(numberIn({}), 0) })),
	}
	try {
		return JSON.stringify(optionsOf('Thing', given as object, readers as never))
	} catch (error) {
		return String(error)
	}
}

describe('base/options', (test) => {
	test('given values are returned, and defaults for the rest', () => {
		const defaults = { waitSeconds: 5, isOpen: false, prefix: 'a:', kind: 'fixed', names: [] }
		assert.equal(JSON.parse(refusal({})), defaults)
		assert.equal(JSON.parse(refusal({ max: undefined, names: undefined })), defaults)
		const given = { waitSeconds: 0.5, isOpen: true, prefix: '', kind: 'sliding', names: ['b'] }
		assert.equal(JSON.parse(refusal({ ...given, inner: { a: 3 } })), {
			...given,
			inner: { a: 3, delaySeconds: 0 },
		})
		const read = optionsOf(
			'T',
			{ size: Number.POSITIVE_INFINITY },
			{ size: wholeNumber({ orInfinity: true }) },
		)
		assert.is(read.size, Number.POSITIVE_INFINITY)
	})

	const table: [unknown, string][] = [
		[null, 'TypeError: the options of Thing must be an object, got null'],
		['max', 'TypeError: the options of Thing must be an object, got "max"'],
		[[], 'TypeError: the options of Thing must be an object, got an empty array'],
		[new Map(), 'TypeError: the options of Thing must be an object, got an object'],
		[
			Promise.resolve({}),
			'TypeError: the options of Thing must be an object, got a promise: write await before it',
		],
		[{ mx: 1 }, 'TypeError: Thing has no option mx: did you mean max?'],
		[{ toString: 1 }, 'TypeError: Thing has no option toString; there are max, waitSeconds, share'],
		[{ max: 0 }, 'RangeError: Thing: max must be a whole number of bytes from 1 to 10, got 0'],
		[{ max: 1.5 }, 'RangeError: Thing: max must be a whole number of bytes from 1 to 10, got 1.5'],
		[{ max: 11 }, 'RangeError: Thing: max must be'],
		[{ max: Number.NaN }, 'RangeError: Thing: max must be a whole number of bytes from 1 to 10, got NaN'],
		[{ max: Number.POSITIVE_INFINITY }, 'RangeError: Thing: max must be'],
		[{ max: '5' }, 'TypeError: Thing: max must be a whole number of bytes from 1 to 10, got "5"'],
		[{ max: 5n }, 'TypeError: Thing: max must be a whole number of bytes from 1 to 10, got 5'],
		[{ max: null }, 'TypeError: Thing: max must be a whole number of bytes from 1 to 10, got null'],
		[{ waitSeconds: 0 }, 'RangeError: Thing: waitSeconds must be a number above 0 and at most 60, got 0'],
		[{ waitSeconds: 61 }, 'RangeError: Thing: waitSeconds must be a number above 0 and at most 60, got 61'],
		[{ waitSeconds: Number.NaN }, 'RangeError: Thing: waitSeconds must be'],
		[{ wait: 1 }, 'TypeError: Thing has no option wait: it is waitSeconds, in seconds (30 for 30_000 ms)'],
		[{ share: 0.4 }, 'RangeError: Thing: share must be a number from 0.5 up, or Infinity, got 0.4'],
		[{ isOpen: 'no' }, 'TypeError: Thing: isOpen must be true or false, got "no"'],
		[{ prefix: 5 }, 'TypeError: Thing: prefix must be a string, got 5'],
		[{ kind: 'fix' }, `TypeError: Thing: kind must be 'fixed' or 'sliding', got "fix"`],
		[{ clock: 5 }, 'TypeError: Thing: clock must be a function, () => milliseconds, got 5'],
		[{ names: 'a' }, `TypeError: Thing: names must be a list of names: ['a'], got "a"`],
		[{ names: [] }, "TypeError: Thing: names must be a list of names: ['a'], got an empty array"],
		[{ names: new Array(1) }, 'TypeError: Thing: names[0] must be a string, got undefined'],
		[{ names: ['a', () => 1] }, 'TypeError: Thing: names[1] must be a string, got a function'],
		[{ cache: { get() {} } }, 'TypeError: Thing: cache must have the methods get, set; it lacks set'],
		[{ cache: null }, 'TypeError: Thing: cache must have the methods get, set; it lacks get, set'],
		[{ even: 3 }, 'TypeError: Thing: even must be an even number, got 3'],
		[{ even: /a/ }, 'TypeError: Thing: even must be an even number, got /a/'],
		[{ inner: 5 }, 'TypeError: Thing: inner must be an object: { a: 1 }, got 5'],
		[{ inner: { b: 5 } }, 'TypeError: Thing: inner has no option b: did you mean a?'],
		[{ inner: { a: -1 } }, 'RangeError: Thing: inner.a must be a whole number from 0 up, got -1'],
		[{ inner: { delay: 9 } }, 'TypeError: Thing: inner has no option delay: it is delaySeconds, in seconds'],
	]
	for (const [given, message] of table) {
		test(message, () => assert.ok(refusal(given).startsWith(message), refusal(given)))
	}
})

describe('base/options: nearest', (test) => {
	const table: [string, string[], string][] = [
		['get_artcle', ['post_article', 'get_article', 'get_page'], ': did you mean get_article?'],
		['get_articles', ['get_article'], ': did you mean get_article?'],
		['pge', ['page'], ': did you mean page?'],
		['Page', ['page'], ': did you mean page?'],
		['publish', ['get_article', 'page'], '; there are get_article, page'],
		['x', ['get_article'], '; there are get_article'],
		['anything', [], ''],
		['', ['ab'], '; there are ab'],
		['lsit', ['list', 'last'], ': did you mean list?'],
		// Half of a short word is another word.
		['port', ['cors', 'base'], '; there are cors, base'],
	]
	for (const [name, names, hint] of table) {
		test(`"${name}" among ${names.join(' ')}: "${hint}"`, () => assert.is(nearest(name, names), hint))
	}

	test('of many names the first fifty are listed', () => {
		const names = Array.from({ length: 60 }, (_, at) => `get_article_number_${at}`)
		assert.is(nearest('zzz', names), `; there are ${names.slice(0, 50).join(', ')} and 10 more`)
	})
})

describe('base/options: entriesOf', (test) => {
	test('a literal has its entries', () => {
		assert.equal(entriesOf('x', { a: 1 }, ''), [['a', 1]])
		assert.equal(entriesOf('x', Object.assign(Object.create(null), { a: 1 }), ''), [['a', 1]])
		assert.equal(entriesOf('x', runInNewContext('({ a: 1 })'), ''), [['a', 1]])
	})

	const wrong = [
		new Map([['a', 1]]),
		new Set(['a']),
		[],
		Object.create({ a: 1 }),
		null,
		undefined,
		'a',
		() => 1,
	]
	for (const [at, value] of wrong.entries()) {
		test(`an object that would declare nothing is refused: ${at}`, () =>
			assert.throws(() => entriesOf('x', value, '{ a: 1 }'), /^x must be a plain object: \{ a: 1 \}$/))
	}

	test('handlers in a Map or a list are refused', () => {
		assert.throws(
			() => createServer(new Map([['a', new Empty()]]) as never),
			/handlers must be a plain object/,
		)
		assert.throws(() => createServer([new Empty()] as never), /handlers must be a plain object/)
		assert.match(
			messageOf(() => createServer(Promise.resolve({}) as never)),
			"handlers must be a plain object: { 'blog/api': new Blog() }, got a promise: write await before it",
		)
	})

	const challenges: [unknown, RegExp][] = [
		['Basic realm="x"', /challenge must be a plain object/],
		[{}, /must include WWW-Authenticate/],
		[{ 'WWW-Authenticate': undefined }, /WWW-Authenticate/],
		[{ 'WWW-Authenticate': 'a\r\nb' }, /Invalid character/],
	]
	for (const [challenge, message] of challenges) {
		test(`a challenge that is no valid header is refused: ${JSON.stringify(challenge)}`, () => {
			const authenticator = { authenticate: () => null, challenge } as never
			assert.throws(() => createServer({}, { authenticator }), message)
			class Guarded extends RestHandler {
				override readonly authenticator = authenticator
			}
			assert.throws(() => createServer({ a: Guarded }), message)
		})
	}

	test('requestId refuses headers with another meaning', () => {
		for (const requestId of ['Content-Length', 'Authorization', 'Set-Cookie', 'Host', 'transfer-encoding']) {
			assert.throws(() => createServer({}, { requestId }), /must be a header of its own/)
		}
	})
})
