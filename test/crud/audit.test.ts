/** The option `audit`: models and fields that are refused when the handler is created. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel, type MemoryModelOptions } from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { Passing } from '../testing/broken-models.ts'

const plant = () => new MemoryModel('plant', { key: 'id', fields: { id: 'integer', name: 'text' } })

const FIELDS: MemoryModelOptions['fields'] = {
	id: 'integer',
	who: { type: 'text', nullable: true },
	at: 'timestamp',
	operation: 'text',
	record: 'text',
	before: { type: 'json', nullable: true },
	after: { type: 'json', nullable: true },
}

function change(fields: Record<string, unknown> = {}, options: Partial<MemoryModelOptions> = {}) {
	const all = Object.fromEntries(
		Object.entries({ ...FIELDS, ...fields }).filter(([, field]) => field !== undefined),
	)
	return new MemoryModel('change', { key: 'id', fields: all as MemoryModelOptions['fields'], ...options })
}

const refusal = (audit: unknown, model = plant()) =>
	messageOf(
		() => new CrudHandler(model, { visible: 'all', audit: audit as NonNullable<CrudOptions['audit']> }),
	)

describe('crud/audit', (test) => {
	const wrong: [unknown, string][] = [
		[
			new CrudHandler(change(), { visible: 'all' }),
			'CrudHandler of plant: audit must be a model, such as the result of PostgresModel.open(): of a handler, its model',
		],
		[
			'change',
			'CrudHandler of plant: audit must have the methods list, read, create; it lacks list, read, create',
		],
		[
			{ to: change(), field: ['name'] },
			'CrudHandler of plant: audit has no option field: did you mean fields?',
		],
		[
			{ to: change(), fields: ['nam'] },
			'CrudHandler of plant: audit.fields: there is no field nam: did you mean name?',
		],
		[
			change({ who: undefined }),
			'CrudHandler of plant: audit: change needs the fields who, at, operation, record, before, after, resource: who is missing',
		],
		[change({ before: 'json' }), 'CrudHandler of plant: audit: change.before must be nullable'],
		[change({ at: 'text' }), 'CrudHandler of plant: audit: change.at is of type text: it must be timestamp'],
		[
			change({ record: 'integer' }),
			'CrudHandler of plant: audit: change.record is of type integer: it must be text',
		],
		[
			change({ note: 'text' }),
			'CrudHandler of plant: audit: change.note needs a value, and an audit has none for it',
		],
		[change({}, { readOnly: true }), 'CrudHandler of plant: audit: change can only be read'],
		[
			new Passing(change()),
			'CrudHandler of plant: audit: plant and change must be in one database, with the same pool',
		],
	]
	for (const [audit, message] of wrong) test(message, () => assert.is(refusal(audit), message))

	test('a model without transactions over several is refused', () => {
		const model = new Passing(plant())
		assert.match(
			messageOf(() => new CrudHandler(model, { visible: 'all', audit: change() })),
			/plant and change must be in one database/,
		)
	})
})
