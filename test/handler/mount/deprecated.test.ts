import * as assert from 'uvu/assert'
import { deprecationOf } from '../../../lib/handler/mount/deprecated.ts'
import { type Deprecated, RestHandler } from '../../../lib/index.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

/** The headers of a class V1 with this declaration, whatever its type, as most users write JavaScript. */
function linesOf(declared: unknown): readonly string[] | undefined {
	class V1 extends RestHandler {}
	Object.assign(V1, { deprecated: declared })
	return deprecationOf(new V1())
}

describe('mount/deprecated', (test) => {
	const made: [declared: unknown, lines: readonly string[]][] = [
		[{ since: '2026-01-01' }, ['Deprecation', '@1767225600']],
		[{ since: '2026-01-01T01:00:00+01:00' }, ['Deprecation', '@1767225600']],
		[{ since: '2026-01-01T00:00Z' }, ['Deprecation', '@1767225600']],
		[{ since: new Date(1_767_225_600_999) }, ['Deprecation', '@1767225600']],
		[{ since: '1970-01-01' }, ['Deprecation', '@0']],
		[{ sunset: '2026-12-31T23:59:59.999Z' }, ['Sunset', 'Thu, 31 Dec 2026 23:59:59 GMT']],
		[{ sunset: '9999-12-31' }, ['Sunset', 'Fri, 31 Dec 9999 00:00:00 GMT']],
		[{ sunset: '2024-02-29' }, ['Sunset', 'Thu, 29 Feb 2024 00:00:00 GMT']],
		[{ link: '/docs/v2?a=1#end' }, ['Link', '</docs/v2?a=1#end>; rel="deprecation"']],
		[{ link: 'https://example.com/v2' }, ['Link', '<https://example.com/v2>; rel="deprecation"']],
		[{ link: '/das Ende>' }, ['Link', '</das%20Ende%3E>; rel="deprecation"']],
		[{ link: 'https://example.com/é"\r\n' }, ['Link', '<https://example.com/%C3%A9%22>; rel="deprecation"']],
		[
			{ since: '2026-01-01', sunset: '2026-01-01', link: '/v2' },
			[
				...['Deprecation', '@1767225600', 'Sunset', 'Thu, 01 Jan 2026 00:00:00 GMT'],
				...['Link', '</v2>; rel="deprecation"'],
			],
		],
		[{ since: '2026-01-01', sunset: undefined }, ['Deprecation', '@1767225600']],
	]
	for (const [declared, lines] of made)
		test(`${JSON.stringify(declared)} is announced`, () => assert.equal(linesOf(declared), lines))

	const moment = "must be a Date, or text like '2026-01-31' or '2026-01-31T12:00:00Z', from 1970 to 9999, got"
	const link = "V1.deprecated.link must be a URL, 'https://…', or a path, '/docs/v2', got"
	const refused: [declared: unknown, message: string][] = [
		[true, "V1.deprecated must be an object: { since: '2026-01-31', sunset"],
		[null, 'V1.deprecated must be an object'],
		['2026-01-01', 'V1.deprecated must be an object'],
		[[], 'V1.deprecated must be an object'],
		[{}, 'V1.deprecated must have at least one of since, sunset and link'],
		[{ since: undefined }, 'V1.deprecated must have at least one of since, sunset and link'],
		[{ sinse: '2026-01-01' }, 'V1.deprecated has no option sinse: did you mean since?'],
		[{ since: '2026-01-01', until: 1 }, 'V1.deprecated has no option until'],
		[{ since: '2026-02-30' }, `V1.deprecated.since ${moment} "2026-02-30"`],
		[{ since: '2026-13-01' }, `V1.deprecated.since ${moment} "2026-13-01"`],
		[{ since: '2026-01-01T25:00Z' }, `V1.deprecated.since ${moment}`],
		[{ since: '2026-01-01T00:00' }, `V1.deprecated.since ${moment}`],
		[{ since: '1 January 2026' }, `V1.deprecated.since ${moment}`],
		[{ since: '1969-12-31' }, `V1.deprecated.since ${moment}`],
		[{ since: 1_767_225_600 }, `V1.deprecated.since ${moment} 1767225600`],
		[{ since: null }, `V1.deprecated.since ${moment} null`],
		[{ since: true }, `V1.deprecated.since ${moment} true`],
		[{ since: new Date(Number.NaN) }, `V1.deprecated.since ${moment} Invalid Date`],
		[{ sunset: new Date('+010000-01-01') }, `V1.deprecated.sunset ${moment}`],
		[{ link: 'docs/v2' }, `${link} "docs/v2"`],
		[{ link: '//example.com' }, `${link} "//example.com"`],
		[{ link: '/\\example.com' }, link],
		[{ link: 'https://' }, `${link} "https://"`],
		[{ link: 'javascript:alert(1)' }, link],
		[{ link: '' }, `${link} ""`],
		[{ link: new URL('https://example.com') }, link],
	]
	for (const [declared, message] of refused) {
		test(`${JSON.stringify(declared)} is refused: ${message}`, () => {
			const error = messageOf(() => linesOf(declared))
			assert.ok(error.includes(message), error)
		})
	}

	test('a sunset before the deprecation is refused (RFC 9745 §4)', () => {
		const declared = { since: '2026-02-01', sunset: new Date('2026-01-31T23:59:59Z') }
		assert.throws(
			() => linesOf(declared),
			(error: unknown) => error instanceof RangeError,
		)
		assert.is(
			messageOf(() => linesOf(declared)),
			'V1.deprecated.sunset must not be before since: 2026-01-31T23:59:59.000Z is before 2026-02-01',
		)
	})

	test('changing the Date afterwards has no effect', () => {
		const since = new Date(0)
		const lines = linesOf({ since })
		since.setTime(1e12)
		assert.equal(lines, ['Deprecation', '@0'])
	})

	class V1 extends RestHandler {
		static override deprecated: Deprecated = { since: '2026-01-01' }
	}

	test('is not inherited', () => {
		class V2 extends V1 {}
		assert.is(deprecationOf(new V2()), undefined)
		assert.equal(deprecationOf(new V1()), ['Deprecation', '@1767225600'])
		assert.is(deprecationOf(new RestHandler()), undefined)
	})

	test('a subclass may declare its own deprecation, or none', () => {
		class V2 extends V1 {
			static override deprecated: Deprecated = { link: '/v3' }
		}
		assert.equal(deprecationOf(new V2()), ['Link', '</v3>; rel="deprecation"'])
		assert.is(linesOf(undefined), undefined)
	})

	test('its type rejects missing, wrong and unknown properties', () => {
		const one: Deprecated = { link: '/v2' }
		// @ts-expect-error nothing is said
		const none: Deprecated = {}
		// @ts-expect-error no such name
		const unknown: Deprecated = { link: '/v2', until: '2026-01-01' }
		// @ts-expect-error no date
		const wrong: Deprecated = { since: 2026 }
		assert.is([one, none, unknown, wrong].length, 4)
		// @ts-expect-error nor without an annotation
		class V3 extends RestHandler {
			static override deprecated = { since: 2026 }
		}
		assert.match(
			messageOf(() => deprecationOf(new V3())),
			'V3.deprecated.since',
		)
	})
})
