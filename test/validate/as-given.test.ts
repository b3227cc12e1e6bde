import * as assert from 'uvu/assert'
import { compileSpec, readCompiled } from '../../lib/validate/params.ts'
import { describe } from '../helpers/describe.ts'

const spec = compileSpec({ title: ['required', 'string'], note: ['string'], count: ['integer'] })
const read = (source: Record<string, unknown>): unknown => readCompiled(spec, source, { coerce: false })

describe('validate: a source that is as it should be', (test) => {
	const same: Record<string, unknown>[] = [
		{ title: 'a', note: 'b', count: 1 },
		{ title: 'a', count: 1 },
		{ title: 'a' },
	]
	for (const source of same) {
		test(`${JSON.stringify(source)} comes out equal, and is another object`, () => {
			const result = read(source)
			assert.equal(result, source)
			assert.is.not(result, source)
		})
	}

	test('another order, and fields that nobody asked for, make no difference', () => {
		assert.equal(read({ count: 1, title: 'a' }), { title: 'a', count: 1 })
		assert.equal(read({ title: 'a', admin: true, count: 1 }), { title: 'a', count: 1 })
		assert.equal(read({ title: 'a', count: 1, admin: true }), { title: 'a', count: 1 })
	})

	test('a problem is told once, in its place', () => {
		let details: unknown
		try {
			read({ title: 1, count: 'x' })
		} catch (error) {
			details = Reflect.get(error as object, 'details').map((detail: { field: string }) => detail.field)
		}
		assert.equal(details, ['title', 'count'])
	})
})
