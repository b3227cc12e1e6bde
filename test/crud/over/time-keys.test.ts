/** Tables whose key has a time with microseconds, such as event tables that are partitioned by time. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { inSqlite, openStore, type Store, storesHere, type TableKind } from './stores.ts'

const NOTE = 'note varchar(50)'
const PARTITIONED: TableKind = {
	sqlite: `create table TABLE (id integer, at datetime(6), ${NOTE}, primary key (id, at)) without rowid`,
	postgres: `create table TABLE (id bigint, at timestamptz, ${NOTE}, primary key (id, at)) partition by range (at);
		create table TABLE_a partition of TABLE for values from (minvalue) to ('2026-01-01Z');
		create table TABLE_b partition of TABLE for values from ('2026-01-01Z') to ('2026-02-01Z');
		create table TABLE_c partition of TABLE for values from ('2026-02-01Z') to (maxvalue)`,
	mariadb: `create table TABLE (id bigint, at datetime(6), ${NOTE}, primary key (id, at))
		partition by range columns (at) (partition a values less than ('2026-01-01'),
		partition b values less than ('2026-02-01'), partition c values less than (maxvalue))`,
	inMemory: (name) =>
		new MemoryModel(name, {
			fields: { id: 'bigint', at: 'timestamp', note: { type: 'text', nullable: true } },
			key: ['id', 'at'],
		}),
}
/** The other types of a time: one without a zone, one of a smaller range, and SQLite's `current_timestamp`. */
const OTHERS: TableKind = {
	...PARTITIONED,
	sqlite: `create table TABLE (id integer, at timestamp not null default current_timestamp, ${NOTE}, primary key (id, at))`,
	postgres: `create table TABLE (id bigint, at timestamp, ${NOTE}, primary key (at, id))`,
	mariadb: `create table TABLE (id bigint, at timestamp(6), ${NOTE}, primary key (id, at))`,
}

/** In three partitions, some of them a microsecond apart, at the border of a second, of a day or of a partition. */
const TIMES = [
	...['2026-01-31T23:59:59.999999Z', '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.000001Z'],
	...['2025-12-31T23:59:59.999998Z', '2025-12-31T23:59:59.999999Z', '2026-01-15T12:00:00.123Z'],
	...['2026-01-15T12:00:00.123001Z', '2026-01-15T12:00:00.122999Z', '2026-01-15T12:00:00.1234Z'],
]

/** The one that two records have. */
const LAST = '2026-02-01T00:00:00.000001'

interface Event {
	readonly id: number
	readonly at: string
	readonly note: string
}

/** Events that refer to others by their time. */
const LINKED: TableKind = {
	sqlite: `create table TABLE (at datetime(6) primary key, before datetime(6) references TABLE (at)) without rowid`,
	postgres: `create table TABLE (at timestamptz primary key, before timestamptz references TABLE (at))`,
	mariadb:
		'create table TABLE (at datetime(6) primary key, `before` datetime(6), foreign key (`before`) references TABLE (at))',
	inMemory: (name) =>
		new MemoryModel(name, {
			fields: { at: 'timestamp', before: { type: 'timestamp', nullable: true } },
			key: 'at',
			references: [{ field: 'before', model: 'itself' }],
		}),
}

/** Days and times that only one of the databases has. */
const SPECIAL: TableKind = {
	...PARTITIONED,
	postgres: `create table TABLE (day date, at timestamptz, ${NOTE}, primary key (day, at));
		insert into TABLE (day, at) values ('infinity', '-infinity'), ('-infinity', 'infinity'),
			('0044-03-15 BC', '0044-03-15 12:00:00.123 BC'), ('12026-01-01', '12026-01-01 00:00:00Z'),
			('infinity', '2026-01-01 00:00:00Z')`,
	mariadb: `set statement sql_mode = '' for create table TABLE (day date, at datetime(6), ${NOTE}, primary key (day, at))
		select '0000-00-00' day, '0000-00-00' at union all select '2026-01-00', '2026-00-00 00:00:00.000001'
		union all select '0000-00-00', '2026-01-01'`,
}

/** With six digits, so that text order is the order of time. */
function micros(at: string): string {
	const [second = '', digits = ''] = at.slice(0, -1).split('.')
	return `${second}.${digits.padEnd(6, '0')}`
}

async function check(store: Store, key: readonly string[]): Promise<void> {
	const { ask, said } = asking({
		events: new CrudHandler(await store.emptied(), {
			visible: 'all',
			updatable: ['note'],
			creatable: ['id', 'at', 'note'],
			allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
		}),
	})
	for (const at of TIMES) {
		for (const id of micros(at) === LAST ? [1, 2] : [1]) {
			const made = await ask('POST /events', { body: { id, at, note: 'new' } })
			assert.is(made.status, 201, made.text())
		}
	}
	const all = async (): Promise<Event[]> => {
		const seen: Event[] = []
		let url: string | undefined = '/events?limit=5&sort=-at,id'
		while (url !== undefined) {
			const page = await ask(url)
			assert.is(page.status, 200)
			// A list is an object with the array `data`.
			seen.push(...(page.json() as { data: Event[] }).data)
			url = /<([^>]*)>/.exec(String(page.headers.link ?? ''))?.[1]
		}
		return seen
	}
	/** As a client makes it of the record's JSON. */
	const urlOf = (event: Event) =>
		`/events/${key.map((name) => encodeURIComponent(String(Reflect.get(event, name)))).join()}`
	const events = await all()
	assert.equal(
		events.map(({ at, id }) => `${micros(at)} ${id}`),
		TIMES.map(micros)
			.sort()
			.reverse()
			.flatMap((at) => (at === LAST ? [`${at} 1`, `${at} 2`] : [`${at} 1`])),
	)
	for (const [n, event] of events.entries()) {
		const url = urlOf(event)
		assert.is(await said(url), `200 ${JSON.stringify({ success: true, data: event })}`)
		const changed = { ...event, note: `note ${n}` }
		const answer = `200 ${JSON.stringify({ success: true, data: changed })}`
		assert.is(await said(`PATCH ${url}`, { body: { ...event, note: changed.note } }), answer)
		assert.is(await said(`PUT ${url}`, { body: { note: changed.note } }), answer)
		assert.equal(
			await all(),
			events.map((one, at) => (at <= n ? { ...one, note: `note ${at}` } : one)),
		)
	}
	// The same moment is the same record; one that the column can't hold is none.
	const [first] = TIMES
	const idOf = (at: string) => key.map((name) => (name === 'id' ? '1' : encodeURIComponent(at))).join()
	assert.match(await said(`/events/${idOf('2026-02-01T00:59:59.999999+01:00')}`), /^200 /)
	assert.match(await said(`/events/${idOf('2026-01-31t23:59:59.99999900z')}`), /^200 /)
	for (const at of [
		...['2026-01-31T23:59:59.9999990001Z', '2026-01-31T23:59:59.9999991Z', '2026-01-31T23:59:59.9999994Z'],
		...['2026-01-31T23:59:59.9999986Z', '2026-01-31T23:59:59.9999999Z', '2026-01-31T23:59:59.999Z'],
		...['2026-01-31', '2026-01-31T23:59:59.999999', '2026-01-31 23:59:59.999999Z', '2026-01-31T23:59:60Z'],
		...['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9999999Z', '0000-01-01T00:00:00Z', 'infinity', 'now'],
		...['1900-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '1769903999.999999', ''],
	]) {
		for (const method of ['GET', 'PATCH', 'DELETE']) {
			const reply = await said(`${method} /events/${idOf(at)}`, method === 'PATCH' ? { body: {} } : {})
			assert.match(reply, /^404 /, `${method} ${at}`)
		}
	}
	assert.match(await said('POST /events', { body: { id: 1, at: first } }), /^409 /)
	let left = await all()
	for (const event of events) {
		assert.match(await said(`DELETE ${urlOf(event)}`), /^200 /)
		assert.match(await said(urlOf(event)), /^404 /)
		left = left.filter(({ at, id }) => at !== event.at || id !== event.id)
		assert.equal(await all(), left)
	}
	assert.equal(left, [])
	await checkUpsert(store, key)
}

/** Only the store can tell whether the record is within the scope. */
class Named extends CrudHandler {
	override scope() {
		return { note: { startsWith: 'n' } }
	}
}

async function checkUpsert({ model }: Store, key: readonly string[]): Promise<void> {
	const { said } = asking({
		events: new Named(model, {
			...{ visible: 'all', updatable: ['note'], creatable: ['id', 'at', 'note'] },
			...{ allow: ['upsert'], upsertOn: [key] },
		}),
	})
	for (const note of ['new', 'newer']) {
		const body = { id: 1, at: TIMES[0], note }
		const answer = `200 ${JSON.stringify({ success: true, data: body })}`
		assert.is(await said(`PUT /events?on=${key.join()}`, { body }), answer)
	}
}

async function checkSpecial(store: Store): Promise<void> {
	const { ask, said } = asking({
		events: new CrudHandler(store.model, {
			...{ visible: ['day', 'at', 'note'], updatable: ['note'], allow: ['list', 'read', 'update', 'remove'] },
		}),
	})
	// A list is an object with the array `data`.
	const all = async () => ((await ask('/events')).json() as { data: { day: string; at: string }[] }).data
	let left = await all()
	assert.ok(left.length > 2)
	for (const day of ['10000-02-30', '4715-01-01%20BC', '2026-02-30'])
		for (const method of ['GET', 'DELETE'])
			assert.match(
				await said(`${method} /events/${day},2026-01-01T00:00:00Z`),
				/^40[04] /,
				`${method} ${day}`,
			)
	for (const { day, at } of left) {
		const url = `/events/${encodeURIComponent(day)},${encodeURIComponent(at)}`
		const changed = `200 ${JSON.stringify({ success: true, data: { day, at, note: 'changed' } })}`
		assert.is(await said(`PATCH ${url}`, { body: { note: 'changed' } }), changed)
		assert.equal(await Promise.all([said(url), said(url)]), [changed, changed])
		assert.is(await said(`DELETE ${url}`), changed)
		left = left.filter((one) => one.day !== day || one.at !== at)
		assert.equal(await all(), left)
	}
}

const stores = await storesHere()

describe('a foreign key with a time', (test) => {
	for (const storeName of stores)
		test(`leads to the record with all its digits, in ${storeName}`, async () => {
			const store = await openStore(storeName, 'time_linked', 2, LINKED)
			const events: CrudHandler = new CrudHandler(store.model, {
				...{ visible: 'all', creatable: ['at', 'before'], allow: ['list', 'read', 'create'] },
				relations: {
					earlier: { to: () => events, by: 'before', many: false },
					later: { to: () => events, by: 'before', many: true },
				},
			})
			const { said } = asking({ events })
			try {
				const times = ['2026-01-15T12:00:00.123001Z', '2026-01-15T12:00:00.123002Z']
				const [first, second] = times
				for (const [at, before] of [
					[first, null],
					[second, first],
				])
					assert.match(await said('POST /events', { body: { at, before } }), /^201 /)
				const one = `{"at":"${first}","before":null}`
				const other = `{"at":"${second}","before":"${first}"}`
				assert.match(await said(`/events/${second}/earlier`), `"data":${one}}`)
				assert.match(await said(`/events/${first}/later`), `"data":[${other}]`)
				assert.match(await said(`/events/${second}?include=earlier`), `"earlier":${one}}`)
				assert.match(await said(`/events/${first}?include=later`), `"later":{"data":[${other}]`)
				assert.match(await said(`/events?before=${first}`), `"data":[${other}]`)
			} finally {
				await store.close()
			}
		})
})

for (const [name, kind] of Object.entries({ partitioned: PARTITIONED, others: OTHERS })) {
	describe(`a key with a time, ${name}`, (test) => {
		for (const storeName of stores.filter((one) => one !== 'sqlite')) {
			test(`each record alone is read, changed and deleted, in ${storeName}`, async () => {
				const store = await openStore(storeName, `time_${name}`, 2, kind)
				try {
					await check(store, storeName === 'postgres' && name === 'others' ? ['at', 'id'] : ['id', 'at'])
				} finally {
					await store.close()
				}
			})
		}
		for (const driver of sqliteDrivers) {
			if (driver.open === undefined) continue
			test(`each record alone is read, changed and deleted, with ${driver.name}`, async () => {
				const store = await inSqlite('events', kind, driver.open)
				try {
					await check(store, ['id', 'at'])
				} finally {
					await store.close()
				}
			})
		}
	})
}

describe('a key with a time that JSON has no format for', (test) => {
	for (const storeName of stores.filter((one) => one === 'postgres' || one === 'mariadb')) {
		test(`each record alone is read, changed and deleted, in ${storeName}`, async () => {
			const store = await openStore(storeName, 'time_special', 2, SPECIAL)
			try {
				await checkSpecial(store)
			} finally {
				await store.close()
			}
		})
	}
})
