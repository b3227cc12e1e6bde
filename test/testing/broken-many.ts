/** Models that each break one promise of `createMany` or `upsert`, for the test of the model contract. */
import type { Created, Model, Selection, Upsert, Upserted, Values } from '../../lib/models/model.ts'
import { ModelError } from '../../lib/models/model-error.ts'
import { Passing } from './broken-models.ts'

/** Asks another model; what breaks overrides a method. */
class Many extends Passing {
	get unique() {
		return this.inner.unique ?? []
	}

	async createMany(values: readonly Values[], selection: Selection): Promise<readonly Created[]> {
		return (await this.inner.createMany?.(values, selection)) ?? []
	}

	async upsert(upsert: Upsert, selection: Selection): Promise<Upserted> {
		const upserted = await this.inner.upsert?.(upsert, selection)
		if (upserted === undefined) throw new Error('the inner model has no upsert')
		return upserted
	}
}

type Creating = (inner: Model, ...given: Parameters<Many['createMany']>) => Promise<readonly Created[]>
type Upserting = (inner: Model, ...given: Parameters<Many['upsert']>) => Promise<Upserted>

function creating(create: Creating): () => Model {
	return () =>
		new (class extends Many {
			override createMany(values: readonly Values[], selection: Selection) {
				return create(this.inner, values, selection)
			}
		})()
}

function upserting(upsert: Upserting): () => Model {
	return () =>
		new (class extends Many {
			override upsert(given: Upsert, selection: Selection) {
				return upsert(this.inner, given, selection)
			}
		})()
}

const many: Creating = (inner, ...given) => inner.createMany?.(...given) ?? Promise.resolve([])
const one: Upserting = (inner, ...given) => inner.upsert?.(...given) ?? Promise.reject(new Error('no upsert'))

const ORDER = 'createMany creates all in the order given, each with its own id'
const NOTHING = 'createMany creates nothing if one record is refused, and names it'
const CHANGES = 'an upsert creates a record, and changes it when it is there'

export const BROKEN_MANY: readonly (readonly [what: string, make: () => Model, found: string])[] = [
	[
		'returns several records in another order',
		creating(async (...all) => (await many(...all)).toReversed()),
		ORDER,
	],
	[
		'gives several records the ids of others',
		creating(async (...all) => {
			const created = await many(...all)
			return created.map((record, at) => ({ ...record, id: created.at(at - 1)?.id ?? '' }))
		}),
		ORDER,
	],
	[
		'gives all records the fields of the first',
		creating((inner, values, selection) =>
			many(
				inner,
				values.map((record) =>
					Object.fromEntries(Object.keys(values[0] ?? {}).map((name) => [name, record[name] ?? null])),
				),
				selection,
			),
		),
		'createMany gives each record the defaults of the fields that it lacks',
	],
	[
		'leaves the records before a refused one',
		creating(async (inner, values, selection) => {
			const created: Created[] = []
			for (const [index, record] of values.entries()) {
				try {
					created.push(await inner.create(record, selection))
				} catch (error) {
					if (!(error instanceof ModelError)) throw error
					throw new ModelError(error.kind, error.fields, error, undefined, index)
				}
			}
			return created
		}),
		NOTHING,
	],
	[
		'does not say which record is refused',
		creating(async (...all) => {
			try {
				return await many(...all)
			} catch (error) {
				throw error instanceof ModelError ? new ModelError(error.kind, error.fields, error) : error
			}
		}),
		NOTHING,
	],
	[
		'creates with an upsert only',
		upserting(async (inner, given, selection) => one(inner, { ...given, changes: {} }, selection)),
		CHANGES,
	],
	[
		'calls each upserted record new',
		upserting(async (...all) => ({ ...(await one(...all)), isNew: true })),
		CHANGES,
	],
	[
		'leaves the version of an upserted record',
		upserting((inner, given, selection) => one(inner, given, { ...selection, version: undefined })),
		CHANGES,
	],
	[
		'writes the new values over an existing record',
		upserting((inner, given, selection) =>
			one(inner, { ...given, changes: { note: null, ...given.changes } }, selection),
		),
		CHANGES,
	],
	[
		'raises the version without a change',
		upserting((inner, given, selection) =>
			one(inner, { ...given, changes: { order: null, ...given.changes } }, selection),
		),
		'an upsert without changes leaves the record as it is',
	],
	[
		'changes records outside of the condition',
		upserting((inner, given, selection) => one(inner, { ...given, where: undefined }, selection)),
		'an upsert neither changes nor returns a record outside of its condition',
	],
	[
		'looks for the record before it creates one',
		upserting(async (inner, given, selection) => {
			const where = { op: 'eq', field: 'email', value: String(given.values.email) } as const
			const found = await inner.count(where)
			await new Promise((resolve) => setTimeout(resolve, 1))
			if (found > 0) return one(inner, given, selection)
			return { ...(await inner.create(given.values, selection)), isNew: true }
		}),
		'of many upserts of a record at the same time one creates it, and none is lost',
	],
	[
		'takes any field to upsert on',
		upserting((inner, given, selection) =>
			one(inner, given, selection).catch((error) => {
				if (error instanceof TypeError) return { id: '', json: '{}', version: undefined, isNew: false }
				throw error
			}),
		),
		'an upsert needs unique fields, a value for each, and changes neither those nor the key',
	],
	[
		'does not say all that is unique',
		() =>
			new (class extends Many {
				override get unique() {
					return [['id']]
				}
			})(),
		'unique has the key, and every unique constraint',
	],
	[
		'changes the record of another unique field',
		upserting((inner, given, selection) =>
			one(inner, given, selection).catch((error) => {
				if (given.on.includes('email')) throw error
				return one(inner, { ...given, on: ['email'] }, selection)
			}),
		),
		'an upsert that conflicts in another field is refused',
	],
]
