/** The model contract: which errors constraints cause, and that a refused change has no effect. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Values } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { type ModelFixture, type ModelTest, parsed, tests, testsFor } from './fixture.ts'

export const REFUSAL_TESTS: readonly ModelTest[] = [
	...tests({
		async 'a duplicate of a unique value is refused, naming the field or none'(fixture) {
			const [, id = ''] = await fixture.addAll([{ email: 'taken' }, { email: 'other', note: 'kept' }])
			await refusesUnchanged(fixture, () => fixture.add({ email: 'taken' }), 'unique', ['email'], 'create')
			const update = () => fixture.update(id, { note: 'lost', email: 'taken' })
			await refusesUnchanged(fixture, update, 'unique', ['email'], 'update')
			strictEqual(await fixture.value(id, 'note'), 'kept')
		},
		async 'unique values are free again when their record is changed or deleted, and nulls never collide'(
			fixture,
		) {
			const [id = ''] = await fixture.addAll([{ email: 'first' }, {}, {}, { email: null }])
			await fixture.update(id, { email: 'second' })
			await fixture.add({ email: 'first' })
			const same = await fixture.update(id, { email: 'second', note: 'same' }, fixture.select(['email']))
			deepStrictEqual(parsed(same), { email: 'second' })
			await fixture.delete(id)
			await fixture.add({ email: 'second' })
			strictEqual(await fixture.model.count(undefined), 5)
		},
		async 'of many simultaneous records with the same unique value one is stored'(fixture) {
			const outcomes = await Promise.allSettled(
				Array.from({ length: 20 }, () => fixture.add({ email: 'one' })),
			)
			strictEqual(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
			for (const outcome of outcomes) {
				if (outcome.status === 'fulfilled') continue
				const { reason } = outcome
				// Some may fail as victims of a deadlock instead (`busy`): then a retry must be refused.
				const isBusy = reason instanceof ModelError && reason.kind === 'busy'
				const retry = () => (isBusy ? fixture.add({ email: 'one' }) : Promise.reject(reason))
				await fixture.refuses(retry, 'unique', ['email'])
			}
			strictEqual(await fixture.model.count(undefined), 1)
		},
		async 'a lone surrogate is refused as invalid'(fixture) {
			const id = await fixture.add({ title: 'kept' })
			for (const title of ['\ud83d', 'a\udc00b']) {
				await refusesUnchanged(fixture, () => fixture.add({ title }), 'invalid', ['title'], 'create')
				await refusesUnchanged(fixture, () => fixture.update(id, { title }), 'invalid', ['title'], 'update')
			}
			strictEqual(await fixture.value(id, 'title'), 'kept')
		},
		async 'a key that is taken is refused as unique'(fixture) {
			const id = await fixture.add({ title: 'first' })
			const create = () => fixture.add({ id: Number(id), title: 'second' })
			await refusesUnchanged(fixture, create, 'unique', ['id'])
		},
		async 'a required field is refused if it is null, or missing without a default'(fixture) {
			const id = await fixture.add({ title: 'kept', status: 'kept' })
			const create = (values: Values): Promise<unknown> =>
				fixture.model.create(values, fixture.select(['id']))
			const attempts: readonly (readonly [string, string, () => Promise<unknown>])[] = [
				['create without it', 'title', () => create({ note: 'n' })],
				['create of nothing', 'title', () => create({})],
				['create with null', 'title', () => create({ title: null })],
				['create with null for a default', 'status', () => create({ title: 't', status: null })],
				['update', 'title', () => fixture.update(id, { note: 'lost', title: null })],
				['update of a default', 'status', () => fixture.update(id, { status: null })],
			]
			for (const [what, field, attempt] of attempts) {
				await refusesUnchanged(fixture, attempt, 'not_null', [field], what)
			}
		},
		async 'a number out of range of its field is refused or kept exactly'(fixture) {
			for (const order of [2_147_483_648, -2_147_483_649, Number.MAX_SAFE_INTEGER]) {
				const added = await fixture.add({ order }).catch(async (error: unknown) => {
					await fixture.refuses(() => Promise.reject(error), 'invalid', ['order'])
				})
				if (added !== undefined) strictEqual(await fixture.value(added, 'order'), order)
			}
		},
		async 'the model still works after a refusal'(fixture) {
			await fixture.add({ email: 'taken' })
			for (let round = 0; round < 30; round++) {
				await fixture.refuses(() => fixture.add({ email: 'taken' }), 'unique', ['email'])
			}
			const id = await fixture.add({ email: 'free' })
			strictEqual(await fixture.value(id, 'email'), 'free')
		},
	}),
	...testsFor(['foreign_key'], {
		async 'a reference to a missing record is refused'(fixture) {
			const id = await fixture.add({ note: 'kept' })
			await refusesUnchanged(fixture, () => fixture.add({ parent: 999_999 }), 'foreign_key', ['parent'])
			const update = () => fixture.update(id, { note: 'lost', parent: 999_999 })
			await refusesUnchanged(fixture, update, 'foreign_key', ['parent'])
		},
		async 'a record is not deleted while another refers to it'(fixture) {
			const parent = await fixture.add({ title: 'parent' })
			const child = await fixture.add({ title: 'child', parent: Number(parent) })
			strictEqual(await fixture.value(child, 'parent'), Number(parent))
			const selection = fixture.select(['title'])
			await refusesUnchanged(fixture, () => fixture.delete(parent, selection), 'foreign_key', ['parent'])
			deepStrictEqual(parsed(await fixture.delete(child, selection)), { title: 'child' })
			deepStrictEqual(parsed(await fixture.delete(parent, selection)), { title: 'parent' })
		},
		async 'a reference may be removed, and may be to the record itself'(fixture) {
			const [id = '', other = ''] = await fixture.addAll([{}, {}])
			await fixture.update(id, { parent: Number(other) })
			await fixture.update(id, { parent: null })
			ok(typeof (await fixture.delete(other)) === 'object')
			await fixture.update(id, { parent: Number(id) })
			strictEqual(await fixture.value(id, 'parent'), Number(id))
		},
	}),
	...testsFor(['maxLength'], {
		async 'a text longer than its field allows is refused, counted in characters'(fixture) {
			const id = await fixture.add({ email: '\u{1f680}'.repeat(200) })
			strictEqual(await fixture.value(id, 'email'), '\u{1f680}'.repeat(200))
			await refusesUnchanged(fixture, () => fixture.add({ email: 'x'.repeat(201) }), 'invalid', ['email'])
			const update = () => fixture.update(id, { email: 'x'.repeat(201) })
			await refusesUnchanged(fixture, update, 'invalid', ['email'])
		},
	}),
]

/** Asserts an error, as `fixture.refuses` does, and that no record was changed. */
async function refusesUnchanged(
	fixture: ModelFixture,
	...expected: Parameters<ModelFixture['refuses']>
): Promise<void> {
	const fields = ['id', 'title', 'note', 'email', 'status', 'version', 'parent']
	const before = await fixture.list({ fields })
	await fixture.refuses(...expected)
	deepStrictEqual(await fixture.list({ fields }), before)
}
