/** A `MemoryModel` with the fields that the model contract requires. */
import { MemoryModel, type MemoryModelOptions } from '../../lib/models/memory/memory-model.ts'
import type { FieldType } from '../../lib/models/model.ts'
import { MODEL_FIELDS, type RelatedModels } from '../../lib/testing/index.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = { status: 'draft', version: 1 }

/** The options of a model that has them all. */
export const CONTRACT_OPTIONS: MemoryModelOptions = {
	fields: Object.fromEntries(
		MODEL_FIELDS.map(({ name, type, nullable }) => [
			name,
			{
				...{ type, nullable },
				...(name in DEFAULTS ? { default: DEFAULTS[name] } : {}),
				...(name === 'email' ? { maxLength: 200 } : {}),
			},
		]),
	),
	key: 'id',
	unique: [['email']],
	references: [{ field: 'parent', model: 'itself' }],
}

/** Models with the other types of keys. */
export const CONTRACT_KEYS = {
	text: () => new MemoryModel('texts', { fields: { id: 'text', title: 'text' }, key: 'id' }),
	uuid: () => new MemoryModel('uuids', { fields: { id: 'uuid', title: 'text' }, key: 'id' }),
	bigint: () => new MemoryModel('bigints', { fields: { id: 'bigint', title: 'text' }, key: 'id' }),
	several: () =>
		new MemoryModel('several', {
			fields: { day: 'date', tag: { type: 'text', maxLength: 200 }, id: 'integer', title: 'text' },
			key: ['day', 'tag', 'id'],
		}),
}

/** Models that refer to each other. */
export function relatedModels() {
	const maybe = <Type extends FieldType>(type: Type) => ({ type, nullable: true })
	const place = new MemoryModel('place', {
		fields: { country: 'text', region: 'text', note: maybe('text') },
		key: ['country', 'region'],
	})
	const person = new MemoryModel('person', {
		fields: {
			...{ id: 'integer', name: maybe('text'), boss: maybe('integer') },
			...{ country: maybe('text'), region: maybe('text') },
		},
		key: 'id',
		references: [
			{ field: 'boss', model: 'itself' },
			{ field: ['country', 'region'], model: place },
		],
	})
	const post = new MemoryModel('post', {
		fields: {
			...{ id: 'integer', title: 'text', n: maybe('integer') },
			...{ author: maybe('integer'), editor: maybe('integer') },
		},
		key: 'id',
		references: [
			{ field: 'author', model: person },
			{ field: 'editor', model: person },
		],
	})
	const tag = new MemoryModel('tag', { fields: { id: 'integer', word: maybe('text') }, key: 'id' })
	const tie = new MemoryModel('tie', {
		fields: { post: 'integer', tag: 'integer' },
		key: ['post', 'tag'],
		references: [
			{ field: 'post', model: post },
			{ field: 'tag', model: tag },
		],
	})
	return { place, person, post, tag, tie } satisfies RelatedModels
}
