/** A `MemoryModel` with the fields that the model contract requires. */
import { MemoryModel, type MemoryModelOptions } from '../../lib/models/memory/memory-model.ts'
import { MODEL_FIELDS } from '../../lib/testing/index.ts'

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
