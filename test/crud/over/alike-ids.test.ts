/** Keys of several columns, one of them a text whose collation ignores case: an id reaches only the record with exactly that key. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { SERVER } from '../../helpers/postgres.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { inSqlite, openStore, type Store, storesHere, type TableKind, THINGS } from './stores.ts'

const table = (tag: string, rest = '') =>
	`create table TABLE (tag ${tag} not null, n int not null, note varchar(20), version bigint not null default 1, primary key (tag, n))${rest}`
/** The statements for a type; the others aren't used. */
const kind = (statements: Partial<TableKind>): TableKind => ({ ...THINGS, ...statements })

const MARIADB = [
	'varchar(20) character set utf8mb4 collate utf8mb4_general_ci',
	'varchar(20) character set utf8mb4 collate utf8mb4_unicode_ci',
	'varchar(20) character set utf8mb4 collate utf8mb4_bin',
	'varchar(20) character set latin1',
	'char(20) character set utf8mb4 collate utf8mb4_general_ci',
	"enum('a', 'b') character set utf8mb4 collate utf8mb4_general_ci",
]
const LOOSE = 'crudover_alike_ids'
const POSTGRES: readonly (readonly [type: string, before: string])[] = [
	['citext', 'create extension if not exists citext;'],
	[
		`varchar(20) collate ${LOOSE}`,
		`drop collation if exists ${LOOSE}; create collation ${LOOSE} (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
	],
	['char(20)', ''],
]
const SQLITE = ['varchar(20) collate nocase', 'text collate rtrim', 'text collate nocase']

/** None of them is `a`. */
const ALIKE = ['A', 'a ', 'á', 'Á', 'ａ', 'à ', 'A ', ' a', 'a\u200b']

interface Page {
	readonly data: readonly { readonly tag: string; readonly n: number }[]
}

/** @param isEnum whether a scope with another text is a mistake of the program */
async function check(store: Store, isEnum: boolean): Promise<void> {
	class Mine extends CrudHandler {
		override scope() {
			return { tag: decodeURIComponent(String(this.request.headers.tag)) }
		}
	}
	const options: CrudOptions = {
		...{ visible: 'all', updatable: ['note'], version: 'version' },
		allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	}
	const { ask, said } = asking({
		all: new CrudHandler(store.model, options),
		mine: new Mine(store.model, options),
	})
	for (const [tag, n] of [...[['a', 1] as const, ['a', 3] as const, ['b', 1] as const]])
		assert.is((await ask('POST /all', { body: { tag, n, note: `${tag}${n}` } })).status, 201)
	// Where the column has it, the same letter in upper case, with another number.
	const upperCase = (await ask('POST /all', { body: { tag: 'A', n: 2, note: 'A2' } })).json() as {
		data?: { tag?: string }
	}
	const hasUpper = upperCase.data?.tag?.trimEnd() === 'A'
	const before = (await ask('/all?limit=50')).text()
	// PostgreSQL pads a char(n) in the record, but its id has no padding.
	for (const { tag, n } of (JSON.parse(before) as Page).data)
		assert.match(
			await said(`/all/${encodeURIComponent(tag.trimEnd())},${n}`),
			`"note":"${tag.trimEnd()}${n}"`,
		)
	for (const tag of ALIKE) {
		const id = `${encodeURIComponent(tag)},1`
		const headers = { tag: encodeURIComponent(tag) }
		for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
			for (const etag of tag === 'A' ? [undefined, '*', '"1"'] : [undefined]) {
				const more = {
					headers: { ...headers, ...(etag === undefined ? {} : { 'if-match': etag }) },
					...(/^P/.test(method) ? { body: { note: 'reached' } } : {}),
				}
				for (const url of [`/all/${id}`, ...(isEnum ? [] : ['/mine/1', '/mine/a,1'])]) {
					const { status } = await ask(`${method} ${url}`, more)
					assert.ok(
						status === 404 || (status === 412 && etag !== undefined),
						`${method} ${url} ${tag}: ${status}`,
					)
				}
			}
		}
		if (isEnum) continue
		assert.equal(
			((await ask('/mine', { headers })).json() as Page).data.length,
			tag === 'A' && hasUpper ? 1 : 0,
			tag,
		)
	}
	assert.is((await ask('/all?limit=50')).text(), before)
	// In one batch.
	const ids = ['a,1', 'A,1', 'a,2', 'A,2', 'a,3', 'A,3', 'a%20,1', '%C3%A1,1', 'b,1', 'B,1', 'a,1']
	const notes = (await Promise.all(ids.map((id) => said(`/all/${id}`)))).map(
		(text) => /"note":"(\w+)"/.exec(text)?.[1],
	)
	const [a1, b1, a3, upper] = ['a1', 'b1', 'a3', hasUpper ? 'A2' : undefined]
	const none = undefined
	assert.equal(notes.toSpliced(2, 1), [a1, none, upper, a3, none, none, none, b1, none, a1])
	// Pages end between records that the collation considers equal.
	for (const sort of ['', '&sort=-tag', '&sort=tag,-n', '&sort=n']) {
		const all = ((await ask(`/all?limit=50${sort}`)).json() as Page).data
		const seen: unknown[] = []
		let url: string | undefined = `/all?limit=1${sort}`
		while (url !== undefined) {
			const page = await ask(url)
			seen.push(...(page.json() as Page).data)
			url = /<([^>]*)>/.exec(String(page.headers.link ?? ''))?.[1]
		}
		assert.equal(seen, all)
	}
	assert.match(
		await said('PATCH /all/a,1', { body: { note: 'x' }, headers: { 'if-match': '*' } }),
		/^200 .*"tag":"a *",/,
	)
	assert.is((await ask('DELETE /all/a,1')).status, 200)
	assert.is((await ask('/all/a,1')).status, 404)
	assert.is((await ask('/all/a,3')).status, 200)
}

const names = await storesHere()

describe('ids of several values that a collation considers equal', (test) => {
	const checked = async (type: string, opening: Promise<Store>) => {
		const store = await opening
		try {
			await check(store, type.startsWith('enum'))
		} finally {
			await store.close()
		}
	}
	for (const [at, type] of MARIADB.entries()) {
		if (!names.includes('mariadb')) continue
		test(`in MariaDB, ${type}`, () =>
			checked(type, openStore('mariadb', `alike${at}`, 3, kind({ mariadb: table(type) }))))
	}
	for (const [at, [type, before]] of POSTGRES.entries()) {
		if (!names.includes('postgres')) continue
		test(`in PostgreSQL, ${type}`, async () => {
			const pool = new pg.Pool({ ...SERVER, max: 1 })
			try {
				const { rows } = await pool.query("select from pg_available_extensions where name = 'citext'")
				if (type === 'citext' && rows.length === 0) {
					console.error('SKIPPED: this PostgreSQL has no extension citext')
					return
				}
				await pool.query(before)
				await checked(type, openStore('postgres', `alike${at}`, 3, kind({ postgres: table(type) })))
				await pool.query(`drop collation if exists ${LOOSE}`)
			} finally {
				await pool.end()
			}
		})
	}
	const first = sqliteDrivers.find(({ open }) => open !== undefined)?.name
	for (const { name, open } of sqliteDrivers) {
		if (open === undefined) continue
		// The drivers don't differ in collations.
		for (const type of name === first ? SQLITE : SQLITE.slice(0, 1))
			test(`with ${name}, ${type}`, () =>
				checked(type, inSqlite('alike', kind({ sqlite: table(type) }), open)))
	}
})
