/** Ids crafted to cause an error or to reach another record, for keys with several columns, in all stores. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, type Model } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { inSqlite, openStore, type Store, storesHere, type TableKind } from './stores.ts'
import { allRows } from './things.ts'

const REST = 'k uuid, n int, d date, note varchar(50), primary key (tag, k, n, d)'
const STRICT: TableKind = {
	sqlite: `create table TABLE (tag varchar(60), ${REST})`,
	postgres: `create table TABLE (tag varchar(60), ${REST})`,
	mariadb: `create table TABLE (tag varchar(60) character set utf8mb4 collate utf8mb4_nopad_bin, ${REST})`,
	inMemory: (name) =>
		new MemoryModel(name, {
			fields: {
				...{ tag: { type: 'text', maxLength: 60 }, k: 'uuid', n: 'integer', d: 'date' },
				note: { type: 'text', nullable: true },
			},
			key: ['tag', 'k', 'n', 'd'],
		}),
}
const K = '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b'
const DAY = '2026-11-20'

const TAGS = [
	...[
		'a',
		'a,b',
		',',
		'%',
		'%2C',
		'%252C',
		'%00',
		'',
		"' or 1=1 --",
		"'; drop table x; --",
		'null',
		'true',
		'{}',
	],
	...[
		'a/b',
		'..',
		'.',
		'?',
		'#',
		'+',
		' ',
		'a b',
		'"',
		'\\',
		'\\0',
		'$1',
		'?1',
		':a',
		'`',
		'{1,2}',
		'(1,2)',
		'[1]',
	],
	...['é', 'e\u0301', '漢字', '😀', '\ufffd', '\ufeff', '\u202e', '__proto__', 'constructor', 'x'.repeat(60)],
]

const hostile = (tag: string) => `${encodeURIComponent(tag)},${K},1,${DAY}`
const BAD_IDS = [
	// The number of parts.
	...['', ',', ',,', ',,,', ',,,,', 'a', `a,${K}`, `a,${K},1`, `a,${K},1,${DAY},`, `,a,${K},1,${DAY}`],
	...[
		`a,${K},1,${DAY},${DAY}`,
		','.repeat(10_000),
		`a%2C${K}%2C1%2C${DAY}`,
		`a,${K},1;${DAY}`,
		`a,b,${K},1,${DAY}`,
	],
	// Types.
	...[
		'01',
		'1.0',
		'1e0',
		'+1',
		'-0',
		' 1',
		'1 ',
		'',
		'0x1',
		'１',
		'NaN',
		'null',
		'9'.repeat(400),
		"1'",
		'1 or 1=1',
	].map((n) => `a,${K},${encodeURIComponent(n)},${DAY}`),
	...[
		'',
		'2026-11-2',
		'2026-11-20T00:00:00Z',
		'2026-02-30',
		'20261120',
		'today',
		'infinity',
		'-infinity',
		'0000-00-00',
	].map((d) => `a,${K},1,${d}`),
	...['', K.slice(1), K.replaceAll('-', ''), `{${K}}`, `${K}0`, `urn:uuid:${K}`, 'g'.repeat(36)].map(
		(k) => `a,${encodeURIComponent(k)},1,${DAY}`,
	),
	...['9007199254740991', '-9007199254740991', '2147483648', '9223372036854775808'].map(
		(n) => `a,${K},${n},${DAY}`,
	),
	// Encodings.
	...['%', '%2', '%zz', '%C3', '%ff', '%C0%AF', '%ED%A0%80', '%00', 'a%00', '%0a', '%7f', '%F4%90%80%80'].map(
		(tag) => `${tag},${K},1,${DAY}`,
	),
	// Texts.
	...[
		'x'.repeat(61),
		'x'.repeat(10_000),
		'😀'.repeat(61),
		'A',
		'a ',
		' a',
		'á',
		'ａ',
		'a%',
		'_',
		'a\u200b',
		'a\u00ad',
	].map(hostile),
	...[
		"a' or 'a'='a",
		'a" or ""="',
		'a) or (1=1',
		"a'; delete from TABLE; --",
		"a'/*",
		'\\x61',
		"E'a'",
		'cast(1 as int)',
	].map(hostile),
	`a,${K},1,${DAY}`.repeat(3),
	`${encodeURIComponent(`a,${K},1,${DAY}`)},${K},1,${DAY}`,
]

/** Texts that no URL can carry. */
const UNSTORABLE = ['\ud800', 'a\udc00', '\0', 'a\0b', '\n', '\x7f', 'x'.repeat(61)]

const METHODS = ['GET', 'HEAD', 'PATCH', 'PUT', 'POST', 'DELETE']
const JSON_TYPE = { 'content-type': 'application/json' }
const ALL = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const

class Mine extends CrudHandler {
	override scope() {
		return { tag: this.request.headers.tag }
	}
}

function serve(model: Model) {
	const options = { visible: 'all', updatable: ['note'], allow: ALL } as const
	return asking({ all: new CrudHandler(model, options), mine: new Mine(model, options) })
}

async function checkHostile(store: Store): Promise<void> {
	const model = await store.emptied()
	const { ask, said, lines } = serve(model)
	const urls: string[] = []
	for (const [at, tag] of TAGS.entries()) {
		const { status, headers, text } = await ask('POST /all', {
			body: { tag, k: K, n: 1, d: DAY, note: `note ${at}` },
		})
		assert.is(status, 201, text())
		assert.is(headers.location, `/all/${hostile(tag)}`)
		urls.push(String(headers.location))
	}
	for (const tag of UNSTORABLE) {
		const { status } = await ask('POST /all', {
			body: JSON.stringify({ tag, k: K, n: 1, d: DAY }),
			headers: JSON_TYPE,
		})
		assert.is(status, 422, JSON.stringify(tag))
	}
	const before = await allRows(model)
	assert.is(before.length, TAGS.length)
	for (const [at, url] of urls.entries()) assert.match(await said(url), `"note":"note ${at}"`)
	// As batches, too.
	const together = await Promise.all(
		[...urls, ...BAD_IDS.slice(0, 40).map((id) => `/all/${id}`)].map((url) => said(url)),
	)
	for (const at of urls.keys()) assert.match(together[at] ?? '', `"note":"note ${at}"`)
	for (const id of BAD_IDS) {
		for (const method of METHODS) {
			const { status } = await ask(
				`${method} /all/${id}`,
				/^P/.test(method) ? { body: { note: 'reached' } } : {},
			)
			// Without an id, it is the URL of the list.
			const expected = id === '' ? [200, 405, 422] : [400, 404]
			assert.ok(expected.includes(status), `${method} ${id.slice(0, 80)}: ${status}`)
		}
	}
	// What the scope fixes can't be smuggled in by the rest.
	const headers = { tag: 'a' }
	assert.match(await said(`/mine/${K},1,${DAY}`, { headers }), /^200 .*"note":"note 0"/)
	for (const id of [
		`%2Cb,${K},1,${DAY}`,
		`b,${K},1,${DAY}`,
		`${K},1,${DAY},`,
		`,${K},1,${DAY}`,
		`a%2Cb,${K},1,${DAY}`,
	])
		for (const method of METHODS) {
			const body = /^P/.test(method) ? { body: { note: 'reached' } } : {}
			const { status } = await ask(`${method} /mine/${id}`, { headers, ...body })
			assert.is(status, 404, `${method} ${id}`)
		}
	assert.equal(await allRows(model), before)
	// A scope that no record can have is none of theirs.
	for (const tag of ['x'.repeat(61), '', 'A', '\u00ff'])
		assert.is((await ask(`/mine/${K},1,${DAY}`, { headers: { tag } })).status, tag === '' ? 200 : 404)
	for (const url of urls) assert.match(await said(`DELETE ${url}`), /^200 /)
	assert.equal(await allRows(model), [])
	assert.equal(
		lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields.err)),
		[],
	)
}

const names = await storesHere()

describe('hostile ids of several values', (test) => {
	for (const name of names.filter((one) => one !== 'sqlite')) {
		test(`reach no other record, ${name}`, async () => {
			const store = await openStore(name, 'hostile', 3, STRICT)
			try {
				await checkHostile(store)
			} finally {
				await store.close()
			}
		})
	}
	for (const { name, open } of sqliteDrivers) {
		if (open === undefined) continue
		test(`reach no other record, ${name}`, async () => {
			const store = await inSqlite('hostile', STRICT, open)
			try {
				await checkHostile(store)
			} finally {
				await store.close()
			}
		})
	}
})
