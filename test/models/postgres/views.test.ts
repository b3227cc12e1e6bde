/** Writing through views of PostgreSQL: those that it updates itself, and those with INSTEAD OF triggers. */
import * as assert from 'uvu/assert'
import { type Changes, DEFAULT, type Model, type Values } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

const DROP = 'drop schema if exists pgad_views cascade'
const SCHEMA = `
	create schema pgad_views;
	create table pgad_views.article (
		gone int, id serial primary key, title varchar(20) not null, slug varchar(9) constraint one_slug unique,
		n int not null default 3 constraint small check (n < 100), twice int generated always as (n * 2) stored,
		rev int not null default 1
	);
	alter table pgad_views.article drop column gone;
	create view pgad_views.few as
		select rev, id, title as name, slug as "the {slug}", n, (select max(id) from pgad_views.article x where x.n < n) as m, twice
		from pgad_views.article a where n < 50 and not exists (select slug, id from pgad_views.article y where y.n > 1000)
		with check option;
	create view pgad_views.outer as select name, id, rev, "the {slug}" as s, n, m, twice from pgad_views.few where id > 0;
	create view pgad_views.hand as select id, title, slug, rev from pgad_views.article;
	create function pgad_views.write() returns trigger language plpgsql as $$ begin
		if tg_op = 'DELETE' then delete from pgad_views.article where id = old.id; return old; end if;
		if new.title = 'skip' then return null; end if;
		if new.title = 'no' then raise 'not this one'; end if;
		new.title = upper(new.title);
		if tg_op = 'INSERT' then
			insert into pgad_views.article (id, title, slug) values (new.id, new.title, new.slug) returning rev into new.rev;
		else
			update pgad_views.article set title = new.title, slug = new.slug, rev = new.rev where id = old.id;
		end if;
		return new;
	end $$;
	create trigger write instead of insert or update or delete on pgad_views.hand
		for each row execute function pgad_views.write();
	alter view pgad_views.hand alter id set default nextval('pgad_views.article_id_seq');
	create view pgad_views.joined as select a.id, b.title from pgad_views.article a join pgad_views.article b using (id);
	create view pgad_views.total as select n as id, count(*) as records from pgad_views.article group by n;
	create view pgad_views.ruled as select id, title from pgad_views.article;
	create rule skip as on delete to pgad_views.ruled do instead nothing;
	create materialized view pgad_views.stored as select id, title from pgad_views.article;`

async function failure(work: Promise<unknown>): Promise<unknown> {
	try {
		return await work
	} catch (error) {
		return error instanceof ModelError ? [error.kind, ...error.fields] : error
	}
}

const selectionOf = (...fields: string[]) => ({ fields, names: fields, version: 'rev' })
const NO_GUARD = { where: undefined, version: undefined }

async function changes(
	model: Model,
	title: string,
	stored: (text: string) => string,
	slug: string,
): Promise<void> {
	const selection = selectionOf(title, slug)
	const json = (text: string, value: string) => JSON.stringify({ [title]: stored(text), [slug]: value })
	const { id, ...created } = await model.create({ [title]: 'one', [slug]: 'one' }, selection)
	assert.equal(created, { json: json('one', 'one'), version: '1' })
	assert.equal(await model.read(id, selection, undefined), created)
	const update = (change: Changes, version?: string, of = id) =>
		failure(model.update(of, change, selection, { where: undefined, version }))
	const changed = { json: json('two', 'one'), version: '2' }
	assert.equal(await update({ [title]: 'two' }, '1'), changed)
	assert.is(await update({ [title]: 'three' }, '1'), 'stale')
	assert.is(await update({ [title]: 'three' }, undefined, '999'), 'missing')
	const remove = (version?: string) => failure(model.delete(id, selection, { where: undefined, version }))
	assert.is(await remove('1'), 'stale')
	assert.equal(await remove('2'), changed)
	assert.is(await remove(), 'missing')
}

function views(name: DriverName): void {
	describe(`writable views by ${name}`, (test) => {
		const opened = databaseLater(name)
		const open = async (view: string) =>
			PostgresModel.open((await opened()).database, `pgad_views.${view}`, { key: 'id' })

		test.before(async () => {
			const { exec } = await opened()
			await exec(DROP)
			await exec(SCHEMA)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(DROP)
			await close()
		})

		test('fields have the defaults of the table; expressions can only be read', async () => {
			const described = (model: Model) =>
				model.fields.map(
					(field) =>
						`${field.name}${field.generated ? ' generated' : field.hasDefault ? ' default' : field.nullable ? '' : ' required'}`,
				)
			assert.equal(described(await open('few')), [
				...['rev default', 'id default', 'name', 'the {slug}', 'n default', 'm generated', 'twice generated'],
			])
			assert.equal(described(await open('outer')), [
				...['name', 'id default', 'rev default', 's', 'n default', 'm generated', 'twice generated'],
			])
			assert.equal(described(await open('hand')), ['id default', 'title required', 'slug', 'rev required'])
		})

		test('records are created, changed and deleted, with versions', async () => {
			await changes(await open('few'), 'name', (text) => text, 'the {slug}')
			await changes(await open('outer'), 'name', (text) => text, 's')
			await changes(await open('hand'), 'title', (text) => text.toUpperCase(), 'slug')
		})

		test('errors name the fields of the view', async () => {
			for (const [view, slug] of [
				['few', 'the {slug}'],
				['outer', 's'],
			] as const) {
				const model = await open(view)
				const selection = selectionOf('id', 'n')
				const { id } = await model.create({ name: 'a', [slug]: 'a' }, selection)
				const create = (values: Values) => failure(model.create(values, selection))
				assert.equal(await create({ name: 'b', [slug]: 'a' }), ['unique', slug])
				assert.equal(await create({ id: Number(id), name: 'b' }), ['unique', 'id'])
				assert.equal(await create({ [slug]: 'b' }), ['not_null', 'name'])
				assert.equal(await create({ name: 'b', n: 60 }), ['check'])
				assert.equal(await create({ name: 'b', n: 100 }), ['check', 'n'])
				assert.equal(await failure(model.update(id, { n: 60 }, selection, NO_GUARD)), ['check'])
				await model.update(id, { n: 5 }, selection, NO_GUARD)
				assert.equal(await model.update(id, { n: DEFAULT }, selection, NO_GUARD), {
					json: `{"id":${id},"n":3}`,
					version: '3',
				})
				await model.delete(id, selection, NO_GUARD)
			}
		})

		test('what a trigger skips or refuses is an error', async () => {
			const model = await open('hand')
			const selection = selectionOf('id')
			const { id } = await model.create({ title: 'a' }, selection)
			assert.equal(await failure(model.create({ title: 'skip' }, selection)), ['refused'])
			assert.equal(await failure(model.create({ title: 'no' }, selection)), ['refused'])
			assert.equal(await failure(model.update(id, { title: 'skip' }, selection, NO_GUARD)), ['refused'])
			await model.delete(id, selection, NO_GUARD)
		})

		test('other views are read-only', async () => {
			for (const view of ['joined', 'total', 'ruled', 'stored']) {
				const model = await open(view)
				assert.is(model.readOnly, true, view)
				assert.match(
					String(await failure(model.create({ id: 1 }, { ...selectionOf('id'), version: undefined }))),
					`${view} is a view: its records can only be read`,
				)
			}
		})
	})
}

for (const name of suitesBy(await driversHere())) views(name)
