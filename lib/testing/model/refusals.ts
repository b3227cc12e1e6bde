/** The model contract: which errors constraints cause, and that a refused change has no effect. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Values } from '../../models/model.ts'
import { ModelError } from '../../models/model-error.ts'
import { type ModelScene, type ModelStage, parsed, scenes, scenesFor } from './stage.ts'

export const REFUSAL_SCENES: readonly ModelScene[] = [
	...scenes({
		async 'a duplicate of a unique value is refused, naming the field or none'(stage) {
			const [, id = ''] = await stage.addAll([{ email: 'taken' }, { email: 'other', note: 'kept' }])
			await unchanged(stage, () =>
				stage.refuses(() => stage.add({ email: 'taken' }), 'unique', ['email'], 'create'),
			)
			await unchanged(stage, () =>
				stage.refuses(
					() => stage.update(id, { note: 'lost', email: 'taken' }),
					'unique',
					['email'],
					'update',
				),
			)
			strictEqual(await stage.value(id, 'note'), 'kept')
		},
		async 'unique values are free again when their record is changed or deleted, and nulls never collide'(
			stage,
		) {
			const [id = ''] = await stage.addAll([{ email: 'first' }, {}, {}, { email: null }])
			await stage.update(id, { email: 'second' })
			await stage.add({ email: 'first' })
			const same = await stage.update(id, { email: 'second', note: 'same' }, stage.select(['email']))
			deepStrictEqual(parsed(same), { email: 'second' })
			await stage.delete(id)
			await stage.add({ email: 'second' })
			strictEqual(await stage.model.count(undefined), 5)
		},
		async 'of many simultaneous records with the same unique value one is stored'(stage) {
			const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => stage.add({ email: 'one' })))
			strictEqual(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
			for (const outcome of outcomes) {
				if (outcome.status === 'fulfilled') continue
				const { reason } = outcome
				// It may have been the victim of a deadlock: then a retry is refused.
				const isBusy = reason instanceof ModelError && reason.kind === 'busy'
				const retry = () => (isBusy ? stage.add({ email: 'one' }) : Promise.reject(reason))
				await stage.refuses(retry, 'unique', ['email'])
			}
			strictEqual(await stage.model.count(undefined), 1)
		},
		async 'half a surrogate pair is refused as invalid'(stage) {
			const id = await stage.add({ title: 'kept' })
			for (const title of ['\ud83d', 'a\udc00b']) {
				await unchanged(stage, () =>
					stage.refuses(() => stage.add({ title }), 'invalid', ['title'], 'create'),
				)
				await unchanged(stage, () =>
					stage.refuses(() => stage.update(id, { title }), 'invalid', ['title'], 'update'),
				)
			}
			strictEqual(await stage.value(id, 'title'), 'kept')
		},
		async 'a key that is taken is refused as unique'(stage) {
			const id = await stage.add({ title: 'first' })
			await unchanged(stage, () =>
				stage.refuses(() => stage.add({ id: Number(id), title: 'second' }), 'unique', ['id']),
			)
		},
		async 'a required field is refused if it is null, or missing without a default'(stage) {
			const id = await stage.add({ title: 'kept', status: 'kept' })
			const create = (values: Values): Promise<unknown> => stage.model.create(values, stage.select(['id']))
			const attempts: readonly (readonly [string, string, () => Promise<unknown>])[] = [
				['create without it', 'title', () => create({ note: 'n' })],
				['create of nothing', 'title', () => create({})],
				['create with null', 'title', () => create({ title: null })],
				['create with null for a default', 'status', () => create({ title: 't', status: null })],
				['update', 'title', () => stage.update(id, { note: 'lost', title: null })],
				['update of a default', 'status', () => stage.update(id, { status: null })],
			]
			for (const [what, field, attempt] of attempts) {
				await unchanged(stage, () => stage.refuses(attempt, 'not_null', [field], what))
			}
		},
	}),
	...scenesFor(['foreign_key'], {
		async 'a reference to a missing record is refused'(stage) {
			const id = await stage.add({ note: 'kept' })
			await unchanged(stage, () =>
				stage.refuses(() => stage.add({ parent: 999_999 }), 'foreign_key', ['parent']),
			)
			await unchanged(stage, () =>
				stage.refuses(() => stage.update(id, { note: 'lost', parent: 999_999 }), 'foreign_key', ['parent']),
			)
		},
		async 'a record is not deleted while another refers to it'(stage) {
			const parent = await stage.add({ title: 'parent' })
			const child = await stage.add({ title: 'child', parent: Number(parent) })
			strictEqual(await stage.value(child, 'parent'), Number(parent))
			const selection = stage.select(['title'])
			await unchanged(stage, () =>
				stage.refuses(() => stage.delete(parent, selection), 'foreign_key', ['parent']),
			)
			deepStrictEqual(parsed(await stage.delete(child, selection)), { title: 'child' })
			deepStrictEqual(parsed(await stage.delete(parent, selection)), { title: 'parent' })
		},
		async 'a reference may be removed, and may be to the record itself'(stage) {
			const [id = '', other = ''] = await stage.addAll([{}, {}])
			await stage.update(id, { parent: Number(other) })
			await stage.update(id, { parent: null })
			ok(typeof (await stage.delete(other)) === 'object')
			await stage.update(id, { parent: Number(id) })
			strictEqual(await stage.value(id, 'parent'), Number(id))
		},
	}),
	...scenesFor(['maxLength'], {
		async 'a text longer than its field allows is refused, counted in characters'(stage) {
			const id = await stage.add({ email: '\u{1f680}'.repeat(200) })
			strictEqual(await stage.value(id, 'email'), '\u{1f680}'.repeat(200))
			await unchanged(stage, () =>
				stage.refuses(() => stage.add({ email: 'x'.repeat(201) }), 'invalid', ['email']),
			)
			await unchanged(stage, () =>
				stage.refuses(() => stage.update(id, { email: 'x'.repeat(201) }), 'invalid', ['email']),
			)
		},
	}),
	...scenes({
		async 'a number out of range of its field is refused or kept exactly'(stage) {
			for (const order of [2_147_483_648, -2_147_483_649, Number.MAX_SAFE_INTEGER]) {
				const added = await stage.add({ order }).catch(async (error: unknown) => {
					await stage.refuses(() => Promise.reject(error), 'invalid', ['order'])
				})
				if (added !== undefined) strictEqual(await stage.value(added, 'order'), order)
			}
		},
		async 'the model still works after a refusal'(stage) {
			await stage.add({ email: 'taken' })
			for (let round = 0; round < 30; round++) {
				await stage.refuses(() => stage.add({ email: 'taken' }), 'unique', ['email'])
			}
			const id = await stage.add({ email: 'free' })
			strictEqual(await stage.value(id, 'email'), 'free')
		},
	}),
]

/** Asserts that `work` changes no record. */
async function unchanged(stage: ModelStage, work: () => Promise<void>): Promise<void> {
	const fields = ['id', 'title', 'note', 'email', 'status', 'version', 'parent']
	const before = await stage.list({ fields })
	await work()
	deepStrictEqual(await stage.list({ fields }), before)
}
