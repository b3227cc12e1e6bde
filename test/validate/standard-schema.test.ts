/** What counts as a Standard Schema: the real ones of three libraries, and nothing else. */
import { type } from 'arktype'
import * as assert from 'uvu/assert'
import * as v from 'valibot'
import * as z from 'zod'
import { isStandardSchema } from '../../lib/validate/standard-schema.ts'
import { describe } from '../helpers/describe.ts'

describe('standard-schema', (test) => {
	const table: [string, unknown, boolean][] = [
		['zod', z.string(), true],
		['valibot', v.string(), true],
		['arktype, whose types are functions', type('string'), true],
		['null', null, false],
		['undefined', undefined, false],
		['an object', {}, false],
		['a list', ['string'], false],
		['a function', () => true, false],
		['text', '~standard', false],
	]
	for (const [name, value, expected] of table) {
		test(`${name}: ${expected}`, () => assert.is(isStandardSchema(value), expected))
	}
})
