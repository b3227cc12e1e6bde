import * as assert from 'uvu/assert'
import { prefersHtml, prefersProblem } from '../../lib/request/accept.ts'
import { describe } from '../helpers/describe.ts'

describe('accept', (test) => {
	const table: [string | undefined, boolean][] = [
		[undefined, false],
		['', false],
		['*/*', false],
		['application/*', false],
		['application/json', false],
		['text/html,application/xhtml+xml,*/*;q=0.8', false],
		['application/problem+json', true],
		['Application/Problem+JSON', true],
		['application/problem+json, application/json', true],
		['application/json, application/problem+json', true],
		['application/json;q=0.9, application/problem+json', true],
		['application/json, application/problem+json;q=0.9', false],
		['application/problem+json;q=0', false],
		['application/problem+json;q=0.0, */*', false],
		['application/problem+json; charset=utf-8; q=0.5', true],
		['application/problem+json;q=x', false],
		['application/problem+json;q=2', false],
		['application/problem+json;q=-1', false],
		['application/problem+jsonp', false],
		['application/problem+json, */*', true],
		['application/problem+json;q=0.5, */*', false],
		['application/problem+json;q=0.5, application/*', false],
		['application/problem+json;q=0.5, */*;q=0.1', true],
		['application/problem+json;q=0.5, application/json;q=0.1, */*', true],
		['text/html, application/problem+json', true],
	]
	for (const [accept, expected] of table) {
		test(`${accept} ${expected ? 'prefers' : "doesn't prefer"} problem details`, () => {
			assert.is(prefersProblem(accept), expected)
		})
	}

	test('only the first hundred ranges are parsed', () => {
		const many = Array.from({ length: 99 }, (_, at) => `text/x-${at}`).join()
		assert.is(prefersHtml(`${many},text/html`), true)
		assert.is(prefersHtml(`${many},text/plain,text/html`), false)
	})
})
