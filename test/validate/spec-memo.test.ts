import * as assert from 'uvu/assert'
import { SpecMemo } from '../../lib/validate/spec-memo.ts'
import { describe } from '../helpers/describe.ts'

describe('spec-memo', (test) => {
	test('a spec seen for the first time is left to be read where it is used', () => {
		assert.is(new SpecMemo().compiled({ title: ['string'] }, undefined), undefined)
	})

	test('a spec that comes again is compiled once, and frozen', () => {
		const memo = new SpecMemo()
		const spec = { title: ['string', { max: 3 }] } as const
		memo.compiled(spec, undefined)
		const compiled = memo.compiled(spec, undefined)
		assert.is(compiled?.spec, spec)
		assert.is(memo.compiled(spec, undefined), compiled)
		assert.ok(Object.isFrozen(spec) && Object.isFrozen(spec.title) && Object.isFrozen(spec.title[1]))
	})

	test('schemas and class instances in a spec are not frozen', () => {
		const memo = new SpecMemo()
		const pattern = /a/
		const schema = {
			'~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
		} as const
		const spec = { title: [{ pattern }], tag: schema } as const
		memo.compiled(spec, undefined)
		memo.compiled(spec, undefined)
		assert.not(Object.isFrozen(pattern))
		assert.not(Object.isFrozen(schema))
	})

	test('it remembers four specs that take turns, and forgets the oldest', () => {
		const memo = new SpecMemo()
		const specs = ['a', 'b', 'c', 'd'].map((name) => ({ [name]: ['string'] as const }))
		for (const spec of specs) memo.compiled(spec, undefined)
		for (const spec of specs) assert.ok(memo.compiled(spec, undefined))
		memo.compiled({ e: ['string'] }, undefined)
		assert.is(memo.compiled(specs[0] ?? {}, undefined), undefined)
	})

	test('a wrong spec is refused when it comes again', () => {
		const memo = new SpecMemo()
		const spec = { title: ['strnig'] } as never
		memo.compiled(spec, undefined)
		assert.throws(() => memo.compiled(spec, undefined), /strnig/)
	})
})
