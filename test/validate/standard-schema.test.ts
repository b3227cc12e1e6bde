/** Schemas of zod, valibot and arktype in specs, synchronous and asynchronous. */
import { type } from 'arktype'
import * as assert from 'uvu/assert'
import * as v from 'valibot'
import * as z from 'zod'
import { isRestError, type RestError } from '../../lib/base/error.ts'
import { planSpec } from '../../lib/validate/compile.ts'
import { isStandardSchema, type StandardSchemaV1 } from '../../lib/validate/standard-schema.ts'
import { readParams, readParamsAsync } from '../../lib/validate/validate.ts'
import { describe } from '../helpers/describe.ts'

const JSON_BODY = { coerce: false } as const
const TICKS = 2

async function refusal(read: () => unknown): Promise<RestError> {
	try {
		await read()
	} catch (error) {
		if (isRestError(error)) return error
		throw error
	}
	throw new Error('nothing was refused')
}

/** A schema that answers after some turns of the loop, and not in the order in which it was asked. */
function slow(answer: (value: unknown) => unknown): StandardSchemaV1 {
	return {
		'~standard': {
			version: 1,
			vendor: 'test',
			validate: async (value) => {
				for (let tick = 0; tick < TICKS; tick++) await new Promise((done) => setImmediate(done))
				return answer(value) as { value: unknown }
			},
		},
	}
}
const double = slow((value) => ({ value: Number(value) * 2 }))
const never = slow(() => ({ issues: [{ message: 'Never' }] }))

describe('a schema of', (test) => {
	const table: [string, StandardSchemaV1<unknown, unknown>, StandardSchemaV1<unknown, unknown>][] = [
		['zod', z.email(), z.object({ email: z.email(), age: z.number().optional() })],
		[
			'valibot',
			v.pipe(v.string(), v.email()),
			v.object({ email: v.pipe(v.string(), v.email()), age: v.optional(v.number()) }),
		],
		['arktype', type('string.email'), type({ email: 'string.email', 'age?': 'number' })],
	]
	for (const [name, field, whole] of table) {
		test(`${name} checks a field`, async () => {
			assert.equal(readParams({ email: field, n: ['integer'] }, { email: 'a@b.co', n: 1 }, JSON_BODY), {
				email: 'a@b.co',
				n: 1,
			})
			const error = await refusal(() =>
				readParams({ email: field, n: ['integer'] }, { email: 'hunter2', n: 'x' }, JSON_BODY),
			)
			assert.equal(
				error.details.map(({ field, code }) => [field, code]),
				[
					['email', 'schema'],
					['n', 'integer'],
				],
			)
			assert.not.match(error.message + JSON.stringify(error.details), 'hunter2')
		})
		test(`${name} reports an absent field as required`, async () => {
			const error = await refusal(() => readParams({ email: field }, {}, JSON_BODY))
			assert.equal(error.details, [{ field: 'email', code: 'required', message: 'is required' }])
		})
		test(`${name} validates the whole`, async () => {
			const source = Object.assign(Object.create(null), { email: 'a@b.co', age: 3 })
			assert.equal({ ...(readParams(whole, source, JSON_BODY) as object) }, { email: 'a@b.co', age: 3 })
			const error = await refusal(() => readParams(whole, { email: 'hunter2', age: 'hunter3' }, JSON_BODY))
			assert.equal(error.details.map(({ field, code }) => [field, code]).sort(), [
				['age', 'schema'],
				['email', 'schema'],
			])
			assert.not.match(error.message + JSON.stringify(error.details), 'hunter')
		})
		test(`${name} validates the items of an array`, async () => {
			const error = await refusal(() =>
				readParams({ to: [{ of: field }] }, { to: ['a@b.co', 'hunter2'] }, JSON_BODY),
			)
			assert.equal(
				error.details.map(({ field, code }) => [field, code]),
				[['to.1', 'schema']],
			)
		})
	}
	test('zod may return another value, and a default for an absent one', () => {
		const spec = { title: z.string().trim(), page: z.coerce.number().default(1), note: z.string().optional() }
		assert.equal(readParams(spec, { title: ' x ' }, JSON_BODY), { title: 'x', page: 1 })
	})
	test('zod may report paths into a field', async () => {
		const spec = { at: z.object({ cities: z.array(z.string()) }) }
		const error = await refusal(() => readParams(spec, { at: { cities: ['a', 5] } }, JSON_BODY))
		assert.is(error.details[0]?.field, 'at.cities.1')
	})
})

describe('a schema that returns a promise', (test) => {
	test('is a TypeError that names getParamsAsync, even if it is rejected later', () => {
		const rejecting = slow(() => {
			throw new Error('late')
		})
		for (const schema of [double, never, rejecting, z.string().refine(async () => false)]) {
			assert.throws(
				() => readParams({ a: schema }, { a: 'x' }, JSON_BODY),
				(error: unknown) => error instanceof TypeError && /getParamsAsync/.test(error.message),
			)
		}
	})
	test('is awaited by readParamsAsync, in fields, items, nested objects and for the whole', async () => {
		const spec = {
			a: double,
			b: [{ of: double }],
			c: [{ fields: { d: double, e: true } }],
			f: ['integer'],
		} as const
		const source = { a: 1, b: [2, 3], c: { d: 4, e: 5 }, f: 6 }
		assert.equal(await readParamsAsync(spec, source, JSON_BODY), { a: 2, b: [4, 6], c: { d: 8, e: 5 }, f: 6 })
		assert.equal(await readParamsAsync(planSpec(slow(() => ({ value: 1 }))), {}, JSON_BODY), 1)
	})
	test('has its problems reported with the others, in the order of the spec', async () => {
		const spec = { a: ['required'], b: never, c: z.string(), d: [{ of: never }], e: double } as const
		const error = await refusal(() => readParamsAsync(spec, { c: 5, d: [1, 2] }, JSON_BODY))
		assert.equal(
			error.details.map(({ field }) => field),
			['a', 'b', 'c', 'd.0', 'd.1'],
		)
	})
	test('is called once, and so are checks, defaults and another validator', async () => {
		const calls: string[] = []
		const spec = {
			a: slow((value) => {
				calls.push('schema')
				return { value }
			}),
			b: ['string', () => void calls.push('check')],
			c: [
				'string',
				{
					default: () => {
						calls.push('default')
						return 'x'
					},
				},
			],
			d: [{ of: double }, (value: number[]) => void calls.push(`check ${value}`)],
		} as const
		await readParamsAsync(spec, { a: 1, b: 'x', d: [1] }, JSON_BODY)
		assert.equal(calls, ['schema', 'check', 'default', 'check 2'])
		const validateList = (value: unknown) => {
			calls.push('list')
			return { ok: true, value } as const
		}
		const validator = { validateList }
		await readParamsAsync({ b: ['string'] }, { b: 'x' }, { coerce: false, validator })
		assert.equal(calls.slice(4), ['list'])
	})
	test('that rejects makes readParamsAsync reject with its error', async () => {
		const broken = slow(() => {
			throw new RangeError('no connection')
		})
		await readParamsAsync({ a: broken, b: broken }, {}, JSON_BODY).then(
			() => assert.unreachable(),
			(error: unknown) => assert.instance(error, RangeError),
		)
	})
	test('is dropped when another throws synchronously', async () => {
		const rejecting = slow(() => {
			throw new Error('late')
		})
		const throwing: StandardSchemaV1 = {
			'~standard': {
				version: 1,
				vendor: 'test',
				validate: () => {
					throw new RangeError('at once')
				},
			},
		}
		await readParamsAsync({ a: rejecting, b: throwing }, {}, JSON_BODY).then(
			() => assert.unreachable(),
			(error: unknown) => assert.instance(error, RangeError),
		)
		for (let tick = 0; tick <= TICKS; tick++) await new Promise((done) => setImmediate(done))
	})
	test('that returns neither value nor issues is a TypeError', async () => {
		await readParamsAsync({ a: slow(() => true) }, {}, JSON_BODY).then(
			() => assert.unreachable(),
			(error: unknown) => assert.instance(error, TypeError),
		)
	})
	test('and a wrong spec is a rejection, not a throw', async () => {
		const promise = readParamsAsync(['__proto__'], {}, JSON_BODY)
		await promise.then(
			() => assert.unreachable(),
			(error: unknown) => assert.instance(error, TypeError),
		)
	})
})

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
