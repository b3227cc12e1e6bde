/** The options `touch` and `softDelete`: declarations that are refused, who may see deleted records, and models without NOW. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudOperation,
	type CrudOptions,
	type CrudScope,
	type CrudValues,
	MemoryModel,
	type MemoryModelOptions,
	type Model,
	type User,
} from '../../lib/index.ts'
import { SqliteModel } from '../../lib/models/sqlite/model.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { opened, sqliteDrivers } from '../helpers/sqlite.ts'
import { Passing } from '../testing/broken-models.ts'

function noteModel(more: Partial<MemoryModelOptions> = {}): MemoryModel {
	return new MemoryModel('note', {
		key: 'id',
		fields: {
			id: 'integer',
			title: 'text',
			touched: 'timestamp',
			deleted: { type: 'timestamp', nullable: true },
			computed: { type: 'timestamp', generated: true, default: '2026-01-01T00:00:00Z' },
			day: { type: 'date', nullable: true },
		},
		rows: [{ title: 'a', touched: '2026-01-01T00:00:00Z' }],
		...more,
	})
}

const OPTIONS: CrudOptions = {
	visible: ['id', 'title', 'touched', 'deleted'],
	updatable: ['title'],
	allow: ['list', 'read', 'create', 'update', 'remove', 'restore'],
	...{ touch: 'touched', softDelete: 'deleted' },
}

const authenticator = {
	authenticate: ({ headers }: { headers: Readonly<Record<string, unknown>> }): User | null =>
		typeof headers.user === 'string' ? { id: headers.user } : null,
}

describe('crud/stamps', (test) => {
	const wrong: [Partial<CrudOptions>, string][] = [
		[{ touch: 'touchd' }, 'touch: note has no column touchd: did you mean touched?'],
		[{ touch: 'title' }, 'touch: title is of type text, not a timestamp'],
		[{ touch: 'day' }, 'touch: day is of type date, not a timestamp'],
		[{ touch: 'computed' }, 'touch: computed is written by the store alone'],
		[
			{ softDelete: 'touched' },
			"softDelete: touched can't be null, and is null in records that aren't deleted",
		],
		[
			{ creatable: ['title'], updatable: ['title', 'touched'] },
			'updatable: touched is the time of the last change, which every change sets',
		],
		[{ creatable: ['deleted'] }, 'creatable: deleted is the time of the deletion: allow remove and restore'],
		[
			{ softDelete: undefined as never },
			'allow has restore, which needs softDelete: the column with the time of the deletion',
		],
	]
	for (const [options, message] of wrong) {
		test(`${JSON.stringify(options)} is refused: ${message}`, () => {
			try {
				new CrudHandler(noteModel(), { ...OPTIONS, ...options })
			} catch (error) {
				assert.is(error instanceof TypeError && error.message, `CrudHandler of note: ${message}`)
				return
			}
			assert.unreachable('nothing was thrown')
		})
	}

	test('a relation called restore is refused where records can be restored', () => {
		const other = new CrudHandler(noteModel(), { visible: 'all' })
		const make = () => new CrudHandler(noteModel(), { ...OPTIONS, relations: { restore: { to: other } } })
		assert.throws(make, /relations\.restore: POST \/<id>\/restore restores a record: give it another name/)
	})

	test('without restore, nobody reads deleted records, and the parameter is unknown', async () => {
		const handler = new CrudHandler(noteModel(), {
			...{ ...OPTIONS, visible: ['id', 'title'], allow: ['list', 'read', 'remove'] },
		})
		const asked = asking({ note: handler })
		assert.is((await asked.ask('DELETE /note/1')).status, 200)
		for (const url of ['/note?deleted=only', '/note/1?deleted=only'])
			assert.match(await asked.said(url), /^400 .*"error":"deleted is not a parameter of /)
		assert.is((await asked.ask('POST /note/1/restore')).status, 404)
	})

	test('who may not restore may not read what is deleted', async () => {
		class Notes extends CrudHandler {
			override access = { restore: 'user', '*': 'anyone' } as const
			get_all() {
				return this.list(this.listQuery())
			}
		}
		const asked = asking({ note: new Notes(noteModel(), OPTIONS) }, { authenticator })
		assert.is((await asked.ask('DELETE /note/1')).status, 200)
		for (const request of [
			'/note?deleted=only',
			'/note/1?deleted=only',
			'/note/all?deleted=only',
			'/note/all?deleted=only&limit=0',
			'QUERY /note',
			'POST /note/1/restore',
		]) {
			const more = request.startsWith('Q') ? { body: { deleted: 'only' } } : {}
			assert.is((await asked.ask(request, more)).status, 401, request)
			assert.is((await asked.ask(request, { headers: { user: 'ann' }, ...more })).status, 200, request)
		}
	})

	test('of deleted records, each client reads those that are within its scope of restore', async () => {
		class Notes extends CrudHandler {
			override scope(operation: CrudOperation): CrudScope {
				return operation === 'list' || operation === 'read' ? {} : { title: this.user?.id ?? null }
			}
		}
		const asked = asking({ note: new Notes(noteModel(), OPTIONS) }, { authenticator })
		const [owner, other] = ['a', 'b'].map((user) => ({ headers: { user } }))
		assert.is((await asked.ask('DELETE /note/1', owner)).status, 200)
		assert.is((await asked.ask('/note/1?deleted=only', other)).status, 404)
		assert.match(await asked.said('/note?deleted=only&count=exact', other), /"data":\[\].*"total":0/)
		assert.is((await asked.ask('/note/1?deleted=only', owner)).status, 200)
		assert.match(await asked.said('/note?deleted=only&count=exact', owner), /"total":1/)
	})

	test('a conflict says that the other record is deleted only to callers who may restore it', async () => {
		class Notes extends CrudHandler {
			override access = { restore: 'user', '*': 'anyone' } as const
			override scope(operation: CrudOperation): CrudScope {
				return operation === 'restore' ? { title: this.user?.id ?? null } : {}
			}
		}
		const rows = [{ id: 1, title: 'a', touched: new Date(0), deleted: new Date(0) }]
		const model = noteModel({ unique: [['title']], rows })
		const conflictOf = async (handler: CrudHandler, user?: string) => {
			const headers = user === undefined ? {} : { user }
			const said = await asking({ note: handler }, { authenticator }).said('POST /note', {
				body: { title: 'a' },
				headers,
			})
			return /"error":"([^"]*)"/.exec(said)?.[1]
		}
		assert.is(await conflictOf(new Notes(model, OPTIONS)), 'title is taken by another record')
		assert.is(await conflictOf(new Notes(model, OPTIONS), 'b'), 'title is taken by another record')
		assert.is(await conflictOf(new Notes(model, OPTIONS), 'a'), 'title is taken by a deleted record')
		const lasting = { ...OPTIONS, allow: ['create', 'remove'] } as const
		assert.is(await conflictOf(new CrudHandler(model, lasting)), 'title is taken by another record')
	})

	test('where deleted records leave the unique index, a conflict is with the one that is not deleted', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		try {
			database.exec(`
				create table note (id integer primary key, title text not null, deleted datetime);
				create unique index title on note (title) where deleted is null;
				insert into note (title, deleted) values ('a', '2026-01-01 00:00:00'), ('a', null)`)
			const { touch: _, ...options } = { ...OPTIONS, visible: ['id', 'title', 'deleted'] }
			const note = new CrudHandler(await SqliteModel.open(database, 'note'), options)
			const said = await asking({ note }).said('POST /note', { body: { title: 'a' } })
			assert.match(said, /^409 .*"title is taken by another record"/)
		} finally {
			database.close()
		}
	})

	test('a model that does not take NOW gets the time of this process', async () => {
		const given: unknown[] = []
		class Old extends Passing {
			override create(...[values, selection]: Parameters<Model['create']>) {
				given.push(values.touched)
				return super.create(values, selection)
			}
			override update(...[id, changes, selection, guard]: Parameters<Model['update']>) {
				given.push(changes.touched, changes.deleted)
				return super.update(id, changes, selection, guard)
			}
		}
		const asked = asking({ note: new CrudHandler(new Old(noteModel()), OPTIONS) })
		await asked.ask('POST /note', { body: { title: 'b' } })
		await asked.ask('DELETE /note/1')
		assert.is(given.length, 3)
		for (const time of given)
			assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 600_000, String(time))
	})

	test('an overridden restore() is called, and remove() as always', async () => {
		class Notes extends CrudHandler {
			override async restore(id: string) {
				const record = await super.restore(id)
				return { again: record.value() }
			}
		}
		const asked = asking({ note: new Notes(noteModel(), { ...OPTIONS, visible: ['title', 'deleted'] }) })
		assert.match(await asked.said('DELETE /note/1'), /^200 .*"title":"a","deleted":"20/)
		assert.is(
			await asked.said('POST /note/1/restore'),
			'200 {"success":true,"data":{"again":{"title":"a","deleted":null}}}',
		)
	})

	test('overrides of a list run on the request, also those of a factory, and conflicts name deleted records', async () => {
		class Notes extends CrudHandler {
			#count = 0
			override async update(id: string, values: CrudValues) {
				this.header('X-Count', ++this.#count)
				return super.update(id, values)
			}
			override async remove(id: string) {
				this.header('X-Count', ++this.#count)
				return super.remove(id)
			}
		}
		const model = noteModel({
			rows: ['a', 'b', 'c'].map((title) => ({ title, touched: '2026-01-01T00:00:00Z' })),
			unique: [['title']],
		})
		const allow = ['list', 'read', 'update', 'updateMany', 'remove', 'removeMany', 'restore'] as const
		const asked = asking({ note: () => new Notes(model, { ...OPTIONS, allow }) })
		assert.is((await asked.ask('DELETE /note?id[in]=1')).headers['x-count'], '1')
		const titled = (title: string) => ({
			body: [
				{ id: 2, title: 'x' },
				{ id: 3, title },
			],
		})
		const taken = /^409 .*"1\.title is taken by a deleted record"/
		assert.match(await asked.said('PATCH /note', titled('a')), taken)
		assert.is((await asked.ask('PATCH /note', titled('y'))).headers['x-count'], '2')
	})
})
