import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { isRestError } from '../../lib/base/error.ts'
import { planSpec } from '../../lib/validate/compile.ts'
import { readParams, type Spec } from '../../lib/validate/validate.ts'
import type { Rule } from '../../lib/validate/validator.ts'
import { cost } from '../helpers/cost.ts'
import { describe } from '../helpers/describe.ts'
import { trials } from '../helpers/trials.ts'

const spec = planSpec({ title: ['required', 'string'], note: ['string'], count: ['integer'] })
const read = (source: Record<string, unknown>): unknown => readParams(spec, source, { coerce: false })

describe('validate: an already valid source', (test) => {
	const same: Record<string, unknown>[] = [
		{ title: 'a', note: 'b', count: 1 },
		{ title: 'a', count: 1 },
		{ title: 'a' },
	]
	for (const source of same) {
		test(`${JSON.stringify(source)} is returned as an equal copy`, () => {
			const result = read(source)
			assert.equal(result, source)
			assert.is.not(result, source)
		})
	}

	test('the order of fields, and unknown fields, make no difference', () => {
		assert.equal(read({ count: 1, title: 'a' }), { title: 'a', count: 1 })
		assert.equal(read({ title: 'a', admin: true, count: 1 }), { title: 'a', count: 1 })
		assert.equal(read({ title: 'a', count: 1, admin: true }), { title: 'a', count: 1 })
	})

	test('a problem is reported once, in order', () => {
		let details: unknown
		try {
			read({ title: 1, count: 'x' })
		} catch (error) {
			details = Reflect.get(error as object, 'details').map((detail: { field: string }) => detail.field)
		}
		assert.equal(details, ['title', 'count'])
	})
})

/** The same rules with a function in each list, which disables the fast path: every field is checked. */
function lookedAt(rules: readonly Rule[]): Rule[] {
	const inner = rules.map((rule): Rule => {
		if (typeof rule !== 'object') return rule
		if ('of' in rule && Array.isArray(rule.of)) return { ...rule, of: lookedAt(rule.of) }
		if (!('fields' in rule) || rule.fields === undefined) return rule
		const fields = Object.entries(rule.fields).map(([name, own]) => [
			name,
			Array.isArray(own) ? lookedAt(own) : own,
		])
		return { fields: Object.fromEntries(fields) }
	})
	return [...inner, () => true as const]
}

function outcome(spec: Spec, source: Record<string, unknown>): unknown {
	try {
		return { value: readParams(spec, source, { coerce: false }) }
	} catch (error) {
		if (isRestError(error)) return { status: error.status, details: error.details }
		throw error
	}
}

const leafRules = fc.constantFrom<readonly Rule[]>(
	['string'],
	['string', { min: 1 }],
	['string', { min: 2, max: 3 }],
	['string', { max: 0 }],
	['string', { in: ['a', '😀'] }],
	[{ pattern: /^a/ }, { max: 4 }],
	['email'],
	['date'],
	['number', { min: -1, max: 1.5 }],
	['integer', { min: 0 }],
	['integer', { in: [1, 2] }],
	['boolean'],
	['array', { min: 1, max: 2 }],
	['object'],
	[{ min: 1 }],
	[{ in: ['a', 1, true] }],
	[],
)
const rules = fc
	.tuple(
		leafRules,
		fc.constantFrom<readonly Rule[]>([], ['required'], ['nullable'], ['required', 'nullable']),
	)
	.map(([leaf, more]) => [...more, ...leaf])
const deepRules = fc.oneof(
	rules,
	rules.map((of) => [{ of: of.filter((rule) => rule !== 'required') }, { max: 3 }]),
	fc.tuple(rules, rules).map(([a, b]) => [{ fields: { a, b } }]),
	fc.tuple(rules, rules).map(([a, b]) => [{ of: [{ fields: { a, b } }] }]),
)

const leaf = fc.constantFrom<unknown>(
	'',
	'a',
	'😀',
	'😀😀',
	'abcd',
	'a@b.c',
	'2026-11-20',
	0,
	1,
	1.5,
	-2,
	true,
	null,
	[],
	{},
)
const record = fc.oneof(
	fc.record({ a: leaf, b: leaf }, { requiredKeys: [], noNullPrototype: true }),
	fc.record({ b: leaf, a: leaf, c: leaf }, { requiredKeys: [], noNullPrototype: true }),
)
const deep = fc.oneof(leaf, record, fc.array(leaf, { maxLength: 4 }), fc.array(record, { maxLength: 3 }))

describe('validate: the fast path', (test) => {
	test('gives the same result as checking every field', () => {
		fc.assert(
			fc.property(deepRules, deepRules, deep, deep, (a, b, left, right) => {
				const source = { a: left, b: right }
				assert.equal(outcome({ a, b }, source), outcome({ a: lookedAt(a), b: lookedAt(b) }, source))
			}),
			{ numRuns: trials(1_500) },
		)
	})

	test('calls a custom check with JSON, at any depth', () => {
		const age: Rule[] = ['integer', (value) => Number(value) > 17 || 'too young']
		const problem = (field: string) => ({
			status: 422,
			details: [{ field, code: 'custom', message: 'too young' }],
		})
		assert.equal(outcome({ age }, { age: 3 }), problem('age'))
		assert.equal(outcome({ all: [{ of: age }] }, { all: [20, 3] }), problem('all.1'))
		assert.equal(outcome({ at: [{ fields: { age } }] }, { at: { age: 3 } }), problem('at.age'))
	})

	test('takes linear time for 24 nested levels with an invalid innermost value', () => {
		let spec: Spec = { a: ['required', 'integer'] }
		let source: Record<string, unknown> = { a: 'x' }
		for (let depth = 0; depth < 24; depth++) {
			spec = { a: ['required', { fields: spec as never }] }
			source = { a: source }
		}
		const time = cost(() => assert.is((outcome(spec, source) as { status: number }).status, 422))
		assert.ok(time < 1_000, `${time} ms`)
	})
})
