/** Tables with row level security, and what a connection must be like after a session: for tests of sessions. */
import { PGlite } from '@electric-sql/pglite'
import type pg from 'pg'
import type postgres from 'postgres'
import * as assert from 'uvu/assert'
import type { ListQuery, Selection } from '../../../lib/models/model.ts'
import type { TestDatabase } from '../../helpers/postgres.ts'

/** Names of this process's roles and tables: roles are shared by all databases of a server. */
export const OWN = `pgad_session_${process.pid}`
/** A role that may use the tables, within their policies, and one that may not read them. */
export const WEB = `${OWN}_Web "user"`
export const NOBODY = `${OWN}_nobody`

export const SELECTION: Selection = {
	fields: ['id', 'owner', 'a'],
	names: ['id', 'owner', 'a'],
	version: undefined,
}
export const FREE = { where: undefined, version: undefined }
export const ALL: ListQuery = {
	selection: SELECTION,
	where: undefined,
	order: [{ field: 'id', descending: false }],
	...{ limit: 50, offset: 0, after: undefined, total: true },
}

export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}

/** Notes that users see if they are theirs or public, and change if they are theirs; 1 and 2 are of ann, 3 of bob. */
export function notesSql(table: string): string {
	return `
		drop table if exists ${table};
		create table ${table} (
			id int primary key, owner text not null default current_setting('app.user', true), a int unique,
			public boolean not null default false);
		insert into ${table} (id, owner, a, public)
			values (1, 'ann', 1, false), (2, 'ann', 2, true), (3, 'bob', 3, false);
		alter table ${table} enable row level security;
		create policy seen on ${table} for select using (owner = current_setting('app.user', true) or public);
		create policy added on ${table} for insert with check (owner = current_setting('app.user', true));
		create policy changed on ${table} for update using (owner = current_setting('app.user', true));
		create policy removed on ${table} for delete using (owner = current_setting('app.user', true));
		grant select, insert, update, delete on ${table} to ${quoted(WEB)};`
}

export const rolesSql = [WEB, NOBODY].map((role) => `create role ${quoted(role)};`).join('\n')
export const dropRolesSql = [WEB, NOBODY]
	.map((role) => `drop owned by ${quoted(role)}; drop role ${quoted(role)};`)
	.join('\n')

/** As a user of the application. */
export function as(user: string) {
	return { role: WEB, settings: { 'app.user': user } }
}

/** The rows of a statement without values, as arrays of texts. */
export async function rowsOf({ database }: TestDatabase, text: string): Promise<unknown[][]> {
	if (database instanceof PGlite) return (await database.query(text, [], { rowMode: 'array' })).rows as never
	if (typeof database === 'function') return [...(await (database as postgres.Sql).unsafe(text).values())]
	return (await (database as pg.Pool).query({ text, rowMode: 'array' })).rows
}

const STATE = `select current_user::text, session_user::text, current_setting('transaction_read_only'),
	coalesce(current_setting('app.user', true), ''), coalesce(current_setting('request.jwt.claims', true), ''),
	pg_sleep(0.1)::text, pg_backend_pid()`

/** Asserts that no connection has anything of a session; asks as many at once as the pool may have. */
export async function assertClean(opened: TestDatabase, connections: number): Promise<void> {
	const [[user] = []] = await rowsOf(opened, 'select session_user::text')
	const states = await Promise.all(Array.from({ length: connections }, () => rowsOf(opened, STATE)))
	for (const [row] of states) assert.equal(row?.slice(0, 5), [user, user, 'off', '', ''])
}

/** The ids of a page. */
export function idsIn({ json }: { readonly json: string }): number[] {
	return (JSON.parse(json) as { id: number }[]).map(({ id }) => id)
}
