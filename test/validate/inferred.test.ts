/** The types inferred from specs. Code that must not compile is under @ts-expect-error. */
import { type } from 'arktype'
import * as assert from 'uvu/assert'
import * as v from 'valibot'
import * as z from 'zod'
import type { KnownKeys } from '../../lib/validate/inferred.ts'
import {
	type Params,
	readParams,
	readParamsAsync,
	type Spec,
	validateList,
} from '../../lib/validate/validate.ts'
import type { Rule } from '../../lib/validate/validator.ts'
import { describe } from '../helpers/describe.ts'
import { type Same, same } from '../helpers/same.ts'

const read =
	<const S extends Spec>(spec: S): (() => Params<S>) =>
	() =>
		readParams(spec, {}, { coerce: false })

describe('Params', (test) => {
	test('of names: all optional and unknown', () => {
		const get = read(['a', 'b'])
		same<Same<ReturnType<typeof get>, { a?: unknown; b?: unknown }>>()
		assert.equal(get(), {})
	})
	test('of true and false: unknown, as nothing is validated', () => {
		const get = read({ title: true, tags: false })
		same<Same<ReturnType<typeof get>, { title: unknown; tags?: unknown }>>()
	})
	test('of rules: their kind, optional without required', () => {
		const get = read({
			email: ['required', 'email'],
			age: ['integer', { min: 0 }],
			on: ['boolean'],
			when: ['datetime', 'string'],
			list: ['required', 'array'],
			bag: ['object'],
			code: ['required', { pattern: /x/ }],
			any: ['required', { min: 1 }],
			own: ['required', 'string', (value: string) => value.length > 1 || 'Too short'],
			none: [],
		})
		type Got = ReturnType<typeof get>
		same<Same<Got['email'], string>>()
		same<Same<Pick<Got, 'age'>, { age?: number | undefined }>>()
		same<Same<Pick<Got, 'on'>, { on?: boolean | undefined }>>()
		same<Same<Pick<Got, 'when'>, { when?: string | undefined }>>()
		same<Same<Got['list'], unknown[]>>()
		same<Same<Pick<Got, 'bag'>, { bag?: Record<string, unknown> | undefined }>>()
		same<Same<Got['code'], string>>()
		same<Same<Pick<Got, 'any'>, { any: unknown }>>()
		same<Same<Got['own'], string>>()
		same<Same<Pick<Got, 'none'>, { none?: unknown }>>()
	})
	test('of in: the choices', () => {
		const get = read({ a: ['required', { in: ['a', 'b'] }], n: [{ in: [1, 2] }, 'nullable'] })
		same<Same<ReturnType<typeof get>, { a: 'a' | 'b'; n?: 1 | 2 | null | undefined }>>()
	})
	test('of nullable: or null', () => {
		const get = read({ a: ['required', 'nullable', 'string'], b: ['nullable', 'integer'] })
		same<Same<ReturnType<typeof get>, { a: string | null; b?: number | null | undefined }>>()
	})
	test('of a default: always present', () => {
		const get = read({
			a: ['integer', { default: 5 }],
			b: ['integer', { default: null }],
			c: [{ of: ['string'], default: [] }],
			d: ['date', { default: () => '2026-11-20' }],
			e: [{ in: ['x', 'y'], default: 'x' }],
		})
		same<
			Same<ReturnType<typeof get>, { a: number; b: number | null; c: string[]; d: string; e: 'x' | 'y' }>
		>()
		assert.equal(get(), { a: 5, b: null, c: [], d: '2026-11-20', e: 'x' })
	})
	test('of items and fields: nested', () => {
		const get = read({
			tags: ['required', { of: ['string', 'nullable'] }],
			at: ['required', { fields: { city: ['required', 'string'], zip: false } }],
			rows: [{ of: [{ fields: { n: ['required', 'integer'] } }] }],
			to: ['required', { of: z.number() }],
		})
		type Got = ReturnType<typeof get>
		same<Same<Got['tags'], (string | null)[]>>()
		same<Same<Got['at'], { city: string; zip?: unknown }>>()
		same<Same<Pick<Got, 'rows'>, { rows?: { n: number }[] | undefined }>>()
		same<Same<Got['to'], number[]>>()
	})
	test('of schemas: their output, optional if it may be undefined', () => {
		const get = read({
			z: z.string(),
			z2: z.number().optional(),
			z3: z.string().transform(Number),
			v: v.string(),
			v2: v.optional(v.number()),
			a: type('string'),
			a2: type('number|undefined'),
			n: ['required', 'integer'],
		})
		type Got = ReturnType<typeof get>
		same<
			Same<
				Pick<Got, 'z' | 'z3' | 'v' | 'a' | 'n'>,
				{ z: string; z3: number; v: string; a: string; n: number }
			>
		>()
		same<
			Same<
				Pick<Got, 'z2' | 'v2' | 'a2'>,
				{ z2?: number | undefined; v2?: number | undefined; a2?: number | undefined }
			>
		>()
	})
	test('of a whole schema: its output', () => {
		const zod = read(z.object({ a: z.string() }))
		const valibot = read(v.object({ a: v.string() }))
		const ark = read(type({ a: 'string' }))
		same<Same<ReturnType<typeof zod>, { a: string }>>()
		same<Same<ReturnType<typeof valibot>, { a: string }>>()
		same<Same<ReturnType<typeof ark>, { a: string }>>()
	})
	test('awaited: the same', () => {
		const get = () => readParams({ a: ['required', 'string'], b: false }, { a: 'x' }, { coerce: false })
		const wait = () => readParamsAsync({ a: ['required', 'string'], b: false }, {}, { coerce: false })
		same<Same<ReturnType<typeof get>, { a: string; b?: unknown }>>()
		same<Same<ReturnType<typeof wait>, Promise<{ a: string; b?: unknown }>>>()
		assert.equal(get(), { a: 'x' })
	})
	test('of rules known only at run time: unknown and optional', () => {
		const rules: readonly Rule[] = ['integer']
		const flag: boolean = rules.length > 0
		const get = read({ a: rules, b: flag })
		same<Same<Pick<ReturnType<typeof get>, 'a'>, { a?: unknown }>>()
		same<Same<Pick<ReturnType<typeof get>, 'b'>, { b?: unknown }>>()
	})
})

describe('the compiler refuses', (test) => {
	test('misspelt rules and wrong arguments, which are also TypeErrors', () => {
		// @ts-expect-error no rule is called requird
		assert.throws(read({ a: ['requird'] }), /is not a rule/)
		// @ts-expect-error no rule is called mni
		assert.throws(read({ a: [{ mni: 1 }] }), /is not a rule/)
		// @ts-expect-error min takes a number
		assert.throws(read({ a: [{ min: 'a' }] }), /min must be/)
		// @ts-expect-error a rule stands in a list
		assert.throws(read({ a: 'required' }), /expected true, false/)
		// @ts-expect-error null is said with nullable
		assert.throws(read({ a: [{ in: [null] }] }), /nullable/)
		// @ts-expect-error a RegExp is the argument of pattern
		assert.throws(read({ a: [/x/] }), /is not a rule/)
		// @ts-expect-error no rule is called sting, in items either
		assert.throws(read({ a: [{ of: ['sting'] }] }), /is not a rule/)
		// @ts-expect-error a schema stands in place of the list
		assert.throws(read({ a: ['required', z.string()] }), /must replace the list/)
		// @ts-expect-error names are strings
		assert.throws(read([1]), /a list of names/)
		// @ts-expect-error a check is synchronous
		assert.throws(() => validateList('x', [async () => true]), /a check returns/)
	})

	test('unknown keys next to known ones, with KnownKeys', () => {
		const strict = <const S extends Spec>(spec: S & KnownKeys<S>) => read<S>(spec)
		const get = strict({
			a: ['required', 'string', { min: 1, max: 2 }, (value: string) => value !== 'x' || 'Not x'],
			b: true,
			c: z.string(),
			d: [{ of: ['integer', { min: 0 }] }],
			e: [{ of: z.number() }],
			f: [{ fields: { g: ['required', { in: ['a', 'b'] }] } }],
		})
		type Got = ReturnType<typeof get>
		same<Same<Pick<Got, 'a' | 'b' | 'c'>, { a: string; b: unknown; c: string }>>()
		same<Same<Pick<Got, 'd' | 'e'>, { d?: number[] | undefined; e?: number[] | undefined }>>()
		same<Same<Pick<Got, 'f'>, { f?: { g: 'a' | 'b' } | undefined }>>()
		strict(['a', 'b'])
		strict(z.object({ a: z.string() }))
		// @ts-expect-error no rule is called mx
		assert.throws(strict({ a: [{ min: 1, mx: 2 }] }), /mx is not a rule/)
		// @ts-expect-error no rule is called mx, in items either
		assert.throws(strict({ a: [{ of: ['string', { min: 1, mx: 2 }] }] }), /mx is not a rule/)
		// @ts-expect-error no rule is called mx, in nested fields either
		assert.throws(strict({ a: [{ fields: { b: [{ min: 1, mx: 2 }] } }] }), /mx is not a rule/)
	})
})
