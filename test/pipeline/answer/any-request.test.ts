import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { type InjectedReply, RestHandler } from '../../../lib/index.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { Echo } from './echo.ts'

class Rest extends RestHandler {
	override customRoutes = { 'GET text/%s/%s': 'text' }
	get_rest(...params: string[]) {
		return params
	}
	get__default(...params: string[]) {
		return params
	}
	text(...params: string[]) {
		return params
	}
}

const { server, lines } = asking({ 'blog/api': new Echo(), all: new Rest() })

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'HEAD', 'OPTIONS', 'TRACE', 'get', '']

/** Any text, and text that looks like one of our targets. */
const target = fc.oneof(
	fc.string({ unit: CODE_POINT }),
	fc
		.array(
			fc.constantFrom(
				...['/', '//', '/blog/api', '/all', '/article', '/custom', '/page', '/7', '/%', '/%2F', '/%00'],
				...[
					'?',
					'#',
					'\\',
					'&a=1',
					'%C3',
					'.',
					'..',
					'http://a',
					'*',
					'/__proto__',
					'/_default',
					'/rest',
					'/é',
				],
			),
			{ maxLength: 8 },
		)
		.map((parts) => parts.join('')),
)

/** Every answer is in the envelope, or has no body if its status allows none. */
function isWhole({ status, headers, text }: InjectedReply, method: string): boolean {
	if (headers['x-content-type-options'] !== 'nosniff') return false
	if (method === 'HEAD' || status === 204) return text() === ''
	const envelope = JSON.parse(text()) as { success?: unknown; error?: unknown }
	if (status === 200) return envelope.success === true && 'data' in envelope
	return envelope.success === false && typeof envelope.error === 'string'
}

describe('answer: any request', (test) => {
	test('any request gets a complete response, and never a 500', async () => {
		await fc.assert(
			fc.asyncProperty(target, fc.constantFrom(...METHODS), fc.boolean(), async (url, method, override) => {
				const headers: Record<string, string> = override ? { 'x-http-method-override': 'PUT' } : {}
				const reply = await server.inject({ method, url, headers })
				assert.ok([200, 204, 400, 404, 405, 501].includes(reply.status), `${method} ${url}: ${reply.status}`)
				assert.ok(isWhole(reply, method), `${method} ${url}: ${reply.text()}`)
			}),
			{ numRuns: trials(150) },
		)
		assert.equal(lines, [])
	})

	const segment = fc
		.string({ unit: CODE_POINT, minLength: 1, maxLength: 10 })
		.filter((text) => !/[\x00-\x1f\x7f]|\p{Cs}/u.test(text))

	test('a method gets the decoded segments, whatever they contain', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(segment, { maxLength: 6 }), async (segments) => {
				const path = segments.map((text) => `/${encodeURIComponent(text)}`).join('')
				const named = await server.inject({ url: `/all/rest${path}` })
				assert.equal((named.json() as { data: unknown }).data, segments)
				if (segments[0] === 'rest' || segments[0] === 'text') return
				const other = await server.inject({ url: `/all${path}` })
				assert.equal((other.json() as { data: unknown }).data, segments)
			}),
			{ numRuns: trials(50) },
		)
	})

	test('a custom route matches any segments, too', async () => {
		await fc.assert(
			fc.asyncProperty(segment, segment, async (a, b) => {
				const reply = await server.inject({
					url: `/all/text/${encodeURIComponent(a)}/${encodeURIComponent(b)}`,
				})
				assert.equal((reply.json() as { data: unknown }).data, [a, b])
			}),
			{ numRuns: trials(40) },
		)
	})
})
