/** Reading fields by a spec: results, what is never returned, and the one error with all problems. */
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { isRestError, type RestError } from '../../lib/base/error.ts'
import { planSpec } from '../../lib/validate/compile.ts'
import { readParams, type Spec, SpecMemo } from '../../lib/validate/validate.ts'
import type { Validator } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'

const JSON_BODY = { coerce: false } as const
const FORM = { coerce: true } as const

function refusal(read: () => unknown): RestError {
	try {
		read()
	} catch (error) {
		if (isRestError(error)) return error
		throw error
	}
	throw new Error('nothing was refused')
}

describe('readParams', (test) => {
	test('returns the listed fields that are present', () => {
		assert.equal(readParams(['a', 'b', 'c'], { a: 1, b: null, d: 4 }, JSON_BODY), { a: 1, b: null })
	})

	test('returns required fields, and optional ones where present', () => {
		const spec = { a: true, b: false, c: false, d: ['string'], e: ['string'] } as const
		assert.equal(readParams(spec, { a: null, b: 2, d: 'x' }, JSON_BODY), { a: null, b: 2, d: 'x' })
	})

	test('drops every field that the spec does not name', () => {
		assert.equal(readParams({ a: true }, { a: 1, admin: true }, JSON_BODY), { a: 1 })
	})

	test('reports all problems at once, by field', () => {
		const spec = {
			title: ['required', 'string'],
			email: ['required', 'email'],
			age: ['integer', { min: 0 }],
			tags: [{ of: ['string'] }],
			at: [{ fields: { city: ['required', 'string'] } }],
			id: true,
		} as const
		const error = refusal(() => readParams(spec, { email: 'x', age: -1, tags: ['a', 2], at: {} }, JSON_BODY))
		assert.is(error.status, 422)
		assert.is(
			error.message,
			'title is required; email must be an email address; age must be at least 0; and 3 more',
		)
		assert.equal(error.details, [
			{ field: 'title', code: 'required', message: 'is required' },
			{ field: 'email', code: 'email', message: 'must be an email address' },
			{ field: 'age', code: 'min', message: 'must be at least 0' },
			{ field: 'tags.1', code: 'string', message: 'must be a string' },
			{ field: 'at.city', code: 'required', message: 'is required' },
			{ field: 'id', code: 'required', message: 'is required' },
		])
	})

	test('treats an undefined property as absent', () => {
		assert.equal(readParams({ a: false }, { a: undefined }, JSON_BODY), {})
		assert.is(
			refusal(() => readParams({ a: true }, { a: undefined }, JSON_BODY)).details[0]?.code,
			'required',
		)
	})

	test('coerces text only where the source is text', () => {
		assert.equal(readParams({ page: ['integer'] }, { page: '2' }, FORM), { page: 2 })
		assert.is(refusal(() => readParams({ page: ['integer'] }, { page: '2' }, JSON_BODY)).status, 422)
	})

	test('reads sources without prototype, such as queries', () => {
		const source: Record<string, unknown> = Object.assign(Object.create(null), { a: '1' })
		assert.equal(readParams({ a: ['integer'], b: false }, source, FORM), { a: 1 })
	})

	test('returns a plain object', () => {
		assert.is(Object.getPrototypeOf(readParams({ a: true }, { a: 1 }, JSON_BODY)), Object.prototype)
	})
})

describe('readParams is safe:', (test) => {
	test('inherited properties are not fields', () => {
		const names = ['constructor', 'toString', 'hasOwnProperty', 'inherited']
		const source = Object.create({ inherited: 1 })
		assert.equal(Object.keys(readParams(names, source, JSON_BODY)), [])
		assert.is(
			refusal(() => readParams({ constructor: true }, {}, JSON_BODY)).details[0]?.field,
			'constructor',
		)
	})

	test('an absent field is not read from the prototype', () => {
		const result: Record<string, unknown> = readParams(['constructor', 'a'] as string[], { a: 1 }, JSON_BODY)
		assert.is(result.constructor, undefined)
		assert.is(result.a, 1)
	})

	test('a __proto__ in the source never becomes a prototype, at any depth', () => {
		const source = JSON.parse('{"a":{"__proto__":{"admin":true},"b":1},"__proto__":{"admin":true}}')
		const result = readParams({ a: [{ fields: { b: true } }] }, source, JSON_BODY)
		assert.equal(result, { a: { b: 1 } })
		assert.is((result.a as Record<string, unknown>).admin, undefined)
	})

	test('a field called __proto__ is refused in the spec', () => {
		assert.throws(() => readParams(['__proto__'], {}, JSON_BODY), /would change the prototype/)
	})

	test('no message contains the sent value', () => {
		const secret = 'hunter2-is-my-password'
		const spec: Spec = {
			a: ['integer'],
			b: ['email'],
			c: [{ in: ['x'] }],
			d: [{ pattern: /^\d+$/ }],
			e: [{ of: ['uuid'] }],
			f: ['string', { max: 3 }],
			g: ['boolean'],
		}
		const source = { a: secret, b: secret, c: secret, d: secret, e: [secret], f: secret, g: secret }
		for (const options of [JSON_BODY, FORM]) {
			const error = refusal(() => readParams(spec, source, options))
			assert.is(error.details.length, 7)
			assert.not.match(error.message + JSON.stringify(error.details), 'hunter2')
		}
	})
})

describe('a compiled spec', (test) => {
	const compiled = planSpec({ title: ['required', 'string'], age: ['integer', { min: 0 }] })
	test('gives the same results as the spec itself', () => {
		assert.equal(readParams(compiled, { title: 'Dune', age: 3, x: 1 }, JSON_BODY), {
			title: 'Dune',
			age: 3,
		})
		assert.is(refusal(() => readParams(compiled, { age: -1 }, JSON_BODY)).details.length, 2)
	})
	test('reports its mistakes when it is compiled', () => {
		const wrong = { title: ['requird'] } as unknown as Spec // the compiler would refuse it
		assert.throws(
			() => planSpec(wrong),
			(error: unknown) => error instanceof TypeError,
		)
	})
	test('keeps the spec, for descriptions of the API', () => {
		assert.equal(compiled.source, { title: ['required', 'string'], age: ['integer', { min: 0 }] })
		assert.equal(
			compiled.fields?.map(({ name, plan }) => [name, plan.kind, plan.required, plan.min]),
			[
				['title', 'string', true, undefined],
				['age', 'integer', false, 0],
			],
		)
	})
})

describe('another validator', (test) => {
	const seen: unknown[] = []
	const validator: Validator = {
		validateList(value, rules, options) {
			seen.push([value, rules, options])
			if (value === 'bad') return { ok: false, problems: [{ field: 'x', code: 'odd', message: 'is odd' }] }
			return { ok: true, value: value === undefined ? undefined : `<${value}>` }
		},
	}
	test('validates the fields with rules, and no others', () => {
		const spec = { a: ['string', { min: 1 }], b: ['string'], c: false } as const
		assert.equal(readParams(spec, { a: 'x', c: 1 }, { coerce: true, validator }), { a: '<x>', c: 1 })
		assert.equal(seen, [
			['x', ['string', { min: 1 }], { coerce: true }],
			[undefined, ['string'], { coerce: true }],
		])
	})
	test('has its problems nested under the field', () => {
		const read = () => readParams(planSpec({ a: ['string'] }, validator), { a: 'bad' }, JSON_BODY)
		assert.equal(refusal(read).details, [{ field: 'a.x', code: 'odd', message: 'is odd' }])
	})
	test('must return synchronously', () => {
		const rejected = async () => Promise.reject(new Error('late'))
		const late = { validateList: rejected } as unknown as Validator // the compiler would refuse it
		assert.throws(
			() => readParams({ a: ['string'] }, {}, { coerce: false, validator: late }),
			/validateList returns/,
		)
	})
})

describe('for any input,', (test) => {
	const specs: readonly Spec[] = [
		['a', 'b', 'constructor'],
		{ a: true, b: false },
		{
			a: ['required', 'string', { min: 2, max: 5, pattern: /^\w+$/ }],
			b: ['nullable', 'integer', { min: 0 }],
		},
		{ a: ['email'], b: ['url'], c: ['uuid'], d: ['date'], e: ['datetime'] },
		{
			a: [{ of: [{ fields: { a: ['required', 'boolean'], b: [{ of: ['number'] }] } }], max: 3 }],
			b: ['object'],
		},
		{ a: [{ in: ['x', 1, true] }], b: [{ min: 1 }], c: ['array', { default: [] }] },
		Object.fromEntries([['toString', ['string']]]),
	]
	const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'toString', '__proto__')
	const leaf = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('', '0', 'on', 'x', true, 1, null))
	const small = fc.oneof(leaf, fc.array(leaf, { maxLength: 4 }), fc.dictionary(name, leaf, { maxKeys: 4 }))
	const value = fc.dictionary(name, fc.oneof(small, fc.array(small, { maxLength: 4 })), { maxKeys: 6 })
	for (const [index, spec] of specs.entries()) {
		for (const options of [JSON_BODY, FORM]) {
			test(`spec ${index}, coerce ${options.coerce}: a result of named fields, or a RestError 422`, () => {
				const names = Array.isArray(spec) ? spec : Object.keys(spec)
				const compiled = planSpec(spec)
				fc.assert(
					fc.property(value, (source) => {
						try {
							const result = readParams(compiled, source, options)
							assert.ok(Object.keys(result as object).every((name) => names.includes(name)))
						} catch (error) {
							assert.ok(isRestError(error) && error.status === 422)
							assert.ok(error.details.length > 0 && error.details.length <= 100)
						}
					}),
					{ numRuns: 300 },
				)
			})
		}
	}
})

describe('SpecMemo', (test) => {
	test('a spec seen for the first time is not compiled', () => {
		assert.is(new SpecMemo().compiled({ title: ['string'] }, undefined), undefined)
	})

	test('a spec seen again is compiled once, and frozen', () => {
		const memo = new SpecMemo()
		const spec = { title: ['string', { max: 3 }] } as const
		memo.compiled(spec, undefined)
		const compiled = memo.compiled(spec, undefined)
		assert.is(compiled?.source, spec)
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

	test('it remembers four alternating specs, and evicts the oldest', () => {
		const memo = new SpecMemo()
		const specs = ['a', 'b', 'c', 'd'].map((name) => ({ [name]: ['string'] as const }))
		for (const spec of specs) memo.compiled(spec, undefined)
		for (const spec of specs) assert.ok(memo.compiled(spec, undefined))
		memo.compiled({ e: ['string'] }, undefined)
		assert.is(memo.compiled(specs[0] ?? {}, undefined), undefined)
	})

	test('a wrong spec is refused when seen again', () => {
		const memo = new SpecMemo()
		const spec = { title: ['strnig'] } as never
		memo.compiled(spec, undefined)
		assert.throws(() => memo.compiled(spec, undefined), /strnig/)
	})
})
