/** Constraint violations and errors of PostgreSQL, with each driver, as ModelErrors; and connection errors. */
import * as assert from 'uvu/assert'
import type { Selection, Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { failureOf as failure } from '../../../lib/models/postgres/errors.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { isBreaking } from '../../../lib/models/postgres/pg/pool.ts'
import type { Table } from '../../../lib/models/sql/table.ts'
import { RawJson } from '../../../lib/wire/raw-json.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater, openDatabase } from './databases.ts'

const DROP =
	'drop table if exists pgad_fails_child, pgad_fails; drop domain if exists pgad_even; drop type if exists pgad_hue; drop function if exists pgad_touch;'
const TABLES = `
	create domain pgad_even as int check (value % 2 = 0);
	create type pgad_hue as enum ('red');
	create table pgad_fails (
		id int primary key,
		email text unique,
		first text, last text,
		age int check (age >= 0),
		even pgad_even,
		name varchar(5) not null default 'x',
		flag bool, small int2, big int8, price numeric(4, 2), day date, clock time, at timestamptz,
		token uuid, doc jsonb, plain json, hue pgad_hue, tags int4[], span int4range, address inet,
		words text[], grid int4[][], found tsvector, query tsquery, path jsonpath, class regclass, space regnamespace, kind regtype, spans int4multirange, proc regproc, procs regproc[], oper regoper, opers regoperator, spot point,
		unique (first, last),
		exclude using gist (span with &&)
	);
	create unique index pgad_fails_lower on pgad_fails (lower(name)) where name <> 'x';
	create table pgad_fails_child (id int primary key, parent int not null references pgad_fails);
	insert into pgad_fails (id, email, first, last, name, span) values (1, 'a@b', 'A', 'B', 'Taken', '[1,5)');
	insert into pgad_fails_child values (1, 1);`

type Refused = readonly [values: Values, kind: string, fields: readonly string[]]

const REFUSED: readonly Refused[] = [
	[{ id: 1 }, 'unique', ['id']],
	[{ email: 'a@b' }, 'unique', ['email']],
	[{ first: 'A', last: 'B' }, 'unique', ['first', 'last']],
	[{ name: 'tAKEN' }, 'unique', ['name']],
	[{ span: '[4,6)' }, 'unique', ['span']],
	[{ name: null }, 'not_null', ['name']],
	[{ age: -1 }, 'check', ['age']],
	[{ even: 3 }, 'check', ['even']],
	[{ name: 'longer' }, 'invalid', []],
	[{ name: 'a\0b' }, 'invalid', []],
	[{ email: 'a\ud800' }, 'invalid', ['email']],
	[{ small: 32768 }, 'invalid', []],
	[{ big: 9223372036854775808n }, 'invalid', []],
	[{ big: 1e300 }, 'invalid', []],
	[{ price: '100.00' }, 'invalid', []],
	[{ price: "1'; drop table pgad_fails; --" }, 'invalid', []],
	[{ day: '2026-02-30' }, 'invalid', []],
	[{ clock: '25:00:00' }, 'invalid', []],
	[{ at: '300000-01-01T00:00:00.000Z' }, 'invalid', []],
	[{ token: 'no uuid' }, 'invalid', []],
	[{ doc: new RawJson('"\\u0000"') }, 'invalid', []],
	[{ doc: new RawJson('"\\ud800"') }, 'invalid', []],
	[{ plain: new RawJson('{') }, 'invalid', []],
	[{ hue: 'blue' }, 'invalid', []],
	[{ tags: new RawJson('"text"') }, 'invalid', []],
	[{ tags: new RawJson('[1.5]') }, 'invalid', []],
	[{ tags: new RawJson('[[1]]') }, 'invalid', ['tags']],
	[{ words: new RawJson('[["a"]]') }, 'invalid', ['words']],
	[{ grid: new RawJson('[[1],[2,3]]') }, 'invalid', []],
	[{ grid: new RawJson('[[1],2]') }, 'invalid', []],
	[{ grid: new RawJson('[[1.5]]') }, 'invalid', []],
	[{ grid: new RawJson('[[{}]]') }, 'invalid', ['grid']],
	[{ grid: new RawJson('{"1":[2]}') }, 'invalid', ['grid']],
	[{ grid: new RawJson('"{1}"') }, 'invalid', ['grid']],
	[{ grid: new RawJson('1') }, 'invalid', ['grid']],
	[{ grid: new RawJson('[[1]') }, 'invalid', ['grid']],
	[{ grid: new RawJson('[["\\ud800"]]') }, 'invalid', ['grid']],
	[{ grid: new RawJson('[["\\u0000"]]') }, 'invalid', []],
	[{ words: new RawJson('["[", {}]') }, 'invalid', ['words']],
	[{ found: "'a:b:c" }, 'invalid', []],
	[{ query: 'a & ' }, 'invalid', []],
	[{ path: '$.a[' }, 'invalid', []],
	[{ class: 'nowhere' }, 'invalid', []],
	[{ class: 'a.b' }, 'invalid', []],
	[{ class: 'a.b.c' }, 'invalid', []],
	[{ class: 'a.b.c.d.e' }, 'invalid', []],
	[{ space: 'nowhere' }, 'invalid', []],
	[{ kind: 'a.b.c' }, 'invalid', []],
	[{ kind: '+' }, 'invalid', []],
	[{ kind: 'numeric(1,2' }, 'invalid', []],
	[{ proc: 'nowhere' }, 'invalid', []],
	[{ proc: 'abs' }, 'invalid', []],
	[{ procs: new RawJson('["nowhere"]') }, 'invalid', []],
	[{ procs: new RawJson('["abs"]') }, 'invalid', []],
	[{ oper: 'nowhere' }, 'invalid', []],
	[{ oper: '+' }, 'invalid', []],
	[{ opers: 'abs(int4)' }, 'invalid', []],
	[{ span: '[1,' }, 'invalid', []],
	[{ spans: '{' }, 'invalid', []],
	[{ spot: '(a' }, 'invalid', []],
	[{ address: 'nowhere' }, 'invalid', []],
]

const SELECTION: Selection = { fields: ['id'], names: ['id'], version: undefined }
const FREE = { where: undefined, version: undefined }

async function refusal(work: Promise<unknown>): Promise<ModelError> {
	const error = await work.then(
		() => undefined,
		(error: unknown) => error,
	)
	assert.instance(error, ModelError, String(error))
	// It has just been seen to be one.
	return error as ModelError
}

function refusesBy(name: DriverName): void {
	describe(`constraints and errors of PostgreSQL, by ${name}`, (test) => {
		const opened = databaseLater(name, {}, { max: 3 })
		const open = async () => PostgresModel.open((await opened()).database, 'pgad_fails')

		test.before(async () => {
			const { exec } = await opened()
			await exec(DROP)
			await exec(TABLES)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(DROP)
			await close()
		})

		for (const [values, kind, fields] of REFUSED) {
			const [[field, value]] = Object.entries(values) as [[string, unknown]]
			const shown = value instanceof RawJson ? value.text : String(value)
			test(`${field} as ${JSON.stringify(shown).slice(0, 40)} is ${kind}`, async () => {
				const model = await open()
				const error = await refusal(model.create({ id: 2, ...values }, SELECTION))
				assert.equal([error.kind, error.fields], [kind, fields])
				assert.is(await model.count(undefined), 1)
			})
		}

		test('a referenced record, or a reference to a missing one, is foreign_key', async () => {
			const model = await open()
			const deleted = await refusal(model.delete('1', SELECTION, FREE))
			// The constraint belongs to another table.
			assert.equal([deleted.kind, deleted.fields], ['foreign_key', []])
			const child = await PostgresModel.open((await opened()).database, 'pgad_fails_child')
			const created = await refusal(child.create({ id: 2, parent: 99 }, SELECTION))
			assert.equal([created.kind, created.fields], ['foreign_key', ['parent']])
		})

		test('a constraint violated by a trigger in another table names no field of ours', async () => {
			const { exec } = await opened()
			await exec(`create function pgad_touch() returns trigger language plpgsql as
				'begin insert into pgad_fails (id, name) values (50, null); return new; end';
				create trigger pgad_touch before update on pgad_fails_child for each row execute function pgad_touch()`)
			const child = await PostgresModel.open((await opened()).database, 'pgad_fails_child')
			const error = await refusal(child.update('1', { parent: 1 }, SELECTION, FREE))
			assert.equal([error.kind, error.fields], ['not_null', []])
		})

		test('an error raised by the database has its SQLSTATE and text', async () => {
			const { database, exec } = await opened()
			await exec(`create table pgad_ruled (id int primary key, what text);
				create function pgad_rule() returns trigger language plpgsql as $$ begin
					if new.what = 'plain' then raise exception 'too low'; end if;
					if new.what = 'own' then raise exception 'too low' using errcode = 'AB123'; end if;
					if new.what = 'check' then raise exception 'too low' using errcode = '23514'; end if;
					if new.what = 'right' then raise exception 'too low' using errcode = '42501'; end if;
					if new.what = 'mistake' then perform 1 / 0; end if;
					if new.what = 'typo' then perform nowhere(); end if;
					if new.what = 'typo of a schema' then perform 'nowhere.a'::text::regclass; end if;
					if new.what = 'a database' then drop table a.b.c; end if;
					return new; end $$;
				create trigger pgad_rule before insert on pgad_ruled for each row execute function pgad_rule()`)
			try {
				const model = await PostgresModel.open(database, 'pgad_ruled')
				for (const [what, kind, code] of [
					['plain', 'refused', 'P0001'],
					['own', 'refused', 'AB123'],
					['check', 'check', '23514'],
					['right', 'forbidden', '42501'],
					['mistake', 'invalid', undefined],
				]) {
					const error = await refusal(model.create({ id: 1, what: what ?? null }, SELECTION))
					const raised = code === undefined ? undefined : { code, message: 'too low' }
					assert.equal([error.kind, error.raised], [kind, raised])
				}
				for (const what of ['typo', 'a database', ...(name === 'PGlite' ? [] : ['typo of a schema'])]) {
					const typo = await model.create({ id: 1, what }, SELECTION).catch((error: unknown) => error)
					assert.not.instance(typo, ModelError, what)
				}
				assert.is(await model.count(undefined), 0)
			} finally {
				await exec('drop table pgad_ruled; drop function pgad_rule')
			}
		})

		test('a row silently skipped by a trigger or policy is refused, not missing', async () => {
			const { database, exec } = await opened()
			await exec(`create table pgad_skipped (id int primary key, what text, v int not null default 1);
				insert into pgad_skipped values (1, 'kept'), (2, 'free');
				create function pgad_skip() returns trigger language plpgsql as $$ begin
					if tg_op = 'INSERT' then return null; end if;
					if old.what = 'kept' then return null; end if;
					if tg_op = 'DELETE' then return old; end if;
					return new; end $$;
				create trigger pgad_skip before insert or update or delete on pgad_skipped
					for each row execute function pgad_skip()`)
			try {
				const model = await PostgresModel.open(database, 'pgad_skipped')
				const versioned: Selection = { ...SELECTION, version: 'v' }
				const told = (answer: unknown) => (answer instanceof ModelError ? answer.kind : answer)
				const kept = { op: 'eq', field: 'what', value: 'kept' } as const
				for (const [done, expected] of [
					[() => model.create({ id: 3 }, SELECTION), 'refused'],
					[() => model.update('1', { what: 'x' }, SELECTION, FREE), 'refused'],
					[() => model.update('1', { what: 'x' }, SELECTION, { ...FREE, where: kept }), 'refused'],
					[() => model.update('1', { what: 'x' }, versioned, { ...FREE, version: '1' }), 'refused'],
					[() => model.update('1', { what: 'x' }, versioned, { ...FREE, version: '2' }), 'stale'],
					[() => model.update('1', { what: 'x' }, versioned, { ...FREE, version: 'x' }), 'stale'],
					[() => model.update('2', { what: 'x' }, SELECTION, { ...FREE, where: kept }), 'missing'],
					[() => model.update('9', { what: 'x' }, SELECTION, FREE), 'missing'],
					[() => model.delete('1', SELECTION, FREE), 'refused'],
					[() => model.delete('9', SELECTION, FREE), 'missing'],
				] as const)
					assert.is(await done().then(told, told), expected)
				assert.is(await model.count(undefined), 2)
			} finally {
				await exec('drop table pgad_skipped; drop function pgad_skip')
			}
		})

		test('a missing privilege of the role is forbidden', async () => {
			const role = `pgad_reader_${process.pid}_${name === 'pg' ? 1 : 2}`
			const { database, exec, close } = await openDatabase(name, {}, { max: 1 })
			try {
				await exec(`create table pgad_closed (id int primary key); create role ${role};
					grant select on pgad_closed to ${role}; set role ${role}`)
				const model = await PostgresModel.open(database, 'pgad_closed')
				assert.is((await refusal(model.create({ id: 1 }, SELECTION))).kind, 'forbidden')
				assert.is(await model.count(undefined), 0)
			} finally {
				await exec(`reset role; drop table if exists pgad_closed; drop role if exists ${role}`)
				await close()
			}
		})

		test('a programming mistake is not translated into a ModelError', async () => {
			const { database, exec } = await opened()
			await exec('create table pgad_gone (id int primary key)')
			const model = await PostgresModel.open(database, 'pgad_gone')
			await exec('drop table pgad_gone')
			const error = await model.count(undefined).then(
				() => undefined,
				(error: unknown) => error,
			)
			assert.instance(error, Error)
			assert.not.instance(error, ModelError)
		})

		if (name !== 'PGlite') {
			test('a lock timeout is busy, a statement timeout unavailable', async () => {
				const holder = await openDatabase(name, {}, { max: 1 })
				const [hasty, slow] = [
					await openDatabase(name, {}, { max: 1 }),
					await openDatabase(name, {}, { max: 1 }),
				]
				try {
					await holder.exec('begin; lock table pgad_fails').catch(() => {})
					for (const [{ database, exec }, setting, kind] of [
						[hasty, 'lock_timeout', 'busy'],
						[slow, 'statement_timeout', 'unavailable'],
					] as const) {
						const model = await PostgresModel.open(database, 'pgad_fails')
						// Not during opening, which takes long on a slow machine.
						await exec(`set ${setting} = 100`)
						assert.is((await refusal(model.count(undefined))).kind, kind)
					}
				} finally {
					for (const { close } of [holder, hasty, slow]) await close()
				}
			})
		}
	})
}

for (const name of suitesBy(await driversHere())) refusesBy(name)

const TABLE: Table = { schema: 'public', name: 't', columns: [], key: ['id'], constraints: [], isView: false }

/** An error as a driver would make it. */
function made(message: string, rest: object = {}): Error {
	return Object.assign(new Error(message), rest)
}

const MEANT: readonly (readonly [error: Error, kind: string | undefined])[] = [
	[made('', { code: '40001' }), 'busy'],
	[made('', { code: '40P01' }), 'busy'],
	[made('', { code: '26000' }), 'busy'],
	[made('', { code: '42P05' }), 'busy'],
	[made('cached plan must not change result type', { code: '0A000' }), 'busy'],
	[made('not supported', { code: '0A000' }), undefined],
	[made('not supported', { code: '0A000', severity: 'ERROR' }), undefined],
	[
		made('a.b.c', { code: '0A000', severity: 'ERROR', where: "unnamed portal parameter $2 = '...'" }),
		'invalid',
	],
	[made('a.b', { code: '3F000', severity: 'ERROR', where: 'unnamed portal parameter $12' }), 'invalid'],
	[made('a.b', { code: '3F000', severity: 'ERROR', where: 'SQL statement "select $1 = a"' }), undefined],
	[
		made('a.b', { code: '3F000', severity: 'ERROR', where: 'PL/pgSQL function f() line 1 at PERFORM' }),
		undefined,
	],
	[made('a.b', { code: '3F000', severity: 'ERROR' }), undefined],
	[
		made('at or near', {
			...{ code: '42601', severity: 'ERROR', position: '1' },
			where: 'ungültiger Typname: »+«\nunbenanntes Portal, Parameter $1 = »+«',
		}),
		'invalid',
	],
	[
		made('at or near', {
			...{ code: '42601', severity: 'ERROR', position: '1' },
			where: 'SQL statement "select \'+\'::text::regtype where $1"\nPL/pgSQL function f() line 1 at PERFORM',
		}),
		undefined,
	],
	[made('Query read timeout'), 'outcome_unknown'],
	[made('', { code: '53300' }), 'unavailable'],
	[made('', { code: '57P03' }), 'unavailable'],
	[made('', { code: '57P01' }), 'outcome_unknown'],
	[made('', { code: '57P02' }), 'outcome_unknown'],
	[made('', { code: '08006' }), 'outcome_unknown'],
	[made('', { code: '08001' }), 'unavailable'],
	[made('', { code: '25006' }), 'unavailable'],
	[made('', { code: '44000' }), 'check'],
	[made('', { code: '54000' }), 'too_large'],
	[made('', { code: '42601' }), undefined],
	[made('', { code: 'P0001', severity: 'ERROR' }), 'refused'],
	[made('', { code: 'U0100', severity: 'ERROR' }), 'refused'],
	[made('', { code: 'P0002', severity: 'ERROR' }), undefined],
	[made('', { code: 'EPERM' }), undefined],
	[made('', { code: 'ECONNREFUSED' }), 'unavailable'],
	[made('', { code: 'ENOENT', syscall: 'connect' }), 'unavailable'],
	[made('', { code: 'ENOENT', syscall: 'open' }), undefined],
	[made('', { code: 'ETIMEDOUT', syscall: 'connect' }), 'unavailable'],
	[made('', { code: 'ECONNRESET', syscall: 'read' }), 'outcome_unknown'],
	[made('', { code: 'EPIPE' }), 'outcome_unknown'],
	[made('', { code: 'CONNECTION_CLOSED' }), 'outcome_unknown'],
	[made('', { code: 'CONNECT_TIMEOUT' }), 'unavailable'],
	[made('timeout exceeded when trying to connect'), 'unavailable'],
	[made('Connection terminated unexpectedly'), 'outcome_unknown'],
	[made('Connection terminated due to connection timeout'), 'unavailable'],
	[made('Cannot use a pool after calling end on the pool'), 'unavailable'],
	[made('Cannot read properties of undefined'), undefined],
]

describe('an error of a PostgreSQL driver', (test) => {
	for (const [error, kind] of MEANT) {
		test(`${JSON.stringify(error)} ${error.message} is ${kind ?? 'ours'}`, () => {
			assert.is(failure(error, TABLE)?.kind, kind)
		})
	}

	test("names fields only when it is about the model's own table, with every driver", () => {
		const key = { name: 't_slug_key', kind: 'unique', columns: ['slug'] } as const
		const table: Table = { ...TABLE, constraints: [key] }
		const fields = (rest: object) =>
			failure(made('', { code: '23505', severity: 'ERROR', ...rest }), table)?.fields
		for (const [where, expected] of [
			[{}, ['slug']],
			[{ table: 't' }, ['slug']],
			[{ schema: 'public', table: 't' }, ['slug']],
			[{ table: 'audit' }, []],
			[{ schema: 'public', table: 'audit' }, []],
			[{ schema: 'audit', table: 't' }, []],
		] as const) {
			assert.equal(fields({ ...where, constraint: key.name }), expected)
			const named = Object.entries({ ...where, constraint: key.name }).map(([name, of]) => [
				`${name}_name`,
				of,
			])
			assert.equal(fields(Object.fromEntries(named)), expected)
		}
	})

	// As its error is emitted before the connection's end, another statement could be sent on it in between.
	test('discards the connection, unless the server reported it for a statement', () => {
		for (const code of ['57P01', '57P02', '57P05', '25P03', '25P04', '25P05', '08006', undefined])
			assert.ok(isBreaking(made('', { code })), code)
		assert.ok(isBreaking(made('', { code: 'EPERM', syscall: 'write' })))
		for (const code of ['23505', '57014', '25P02', '40001', '26000', 'P0001'])
			assert.not.ok(isBreaking(made('', { code })), code)
	})

	test('that is not an Error is not translated', () => {
		assert.is(failure('a text', TABLE), undefined)
		assert.is(failure(undefined, TABLE), undefined)
	})
})
