/** A table whose key has three columns, in four stores; handlers over it, and sequences of requests to them. */
import fc from 'fast-check'
import { CrudHandler, type CrudOptions, createServer, MemoryModel, type Model } from '../../../lib/index.ts'
import { Log } from '../../helpers/listening.ts'
import { IS_MYSQL } from '../../helpers/mariadb.ts'
import { sequenceOf } from './any-request.ts'
import { goodPart, PART_FIELDS } from './any-value.ts'
import type { TableKind } from './stores.ts'
import type { Asked } from './things.ts'

/** MySQL doesn't return a key that a default has made, so that next to it no store has one. */
const DEFAULT = IS_MYSQL ? '' : ' default 1'

export const PARTS: TableKind = {
	sqlite: `create table TABLE (
		day date not null, tag varchar(20) not null, n int not null${DEFAULT},
		title varchar(200) not null, note text, rank bigint, version bigint not null default 1,
		primary key (day, tag, n)
	)`,
	postgres: `create table TABLE (
		day date, tag varchar(20) collate "C", n int${DEFAULT},
		title varchar(200) collate "C" not null, note text collate "C", rank bigint, version bigint not null default 1,
		primary key (day, tag, n)
	)`,
	mariadb: `create table TABLE (
		day date, tag varchar(20), n int${DEFAULT},
		title varchar(200) not null, note longtext, \`rank\` bigint, version bigint not null default 1,
		primary key (day, tag, n)
	) character set utf8mb4 collate utf8mb4_nopad_bin`,
	inMemory: (name) =>
		new MemoryModel(name, {
			fields: {
				day: 'date',
				tag: { type: 'text', maxLength: 20 },
				n: { type: 'integer', ...(IS_MYSQL ? {} : { default: 1 }), min: -2_147_483_648, max: 2_147_483_647 },
				title: { type: 'text', maxLength: 200 },
				note: { type: 'text', nullable: true },
				rank: { type: 'bigint', nullable: true },
				version: { type: 'bigint', default: 1 },
			},
			key: ['day', 'tag', 'n'],
		}),
}

const CHANGEABLE = ['title', 'note', 'rank']
const OPTIONS: CrudOptions = {
	visible: [...PART_FIELDS, 'version'],
	updatable: CHANGEABLE,
	creatable: PART_FIELDS,
	searchable: ['tag', 'title', 'note'],
	allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
	limit: 3,
	maxLimit: 5,
	version: 'version',
}

/** Limits each request to the parts of the key in its headers; of several tags, separated by `|`, to any of them. */
class OwnParts extends CrudHandler {
	override scope() {
		const { 'x-day': day, 'x-tag': tag, 'x-n': n } = this.request.headers
		return {
			...(day === undefined ? {} : { day }),
			...(tag === undefined ? {} : { tag: String(tag).includes('|') ? String(tag).split('|') : tag }),
			...(n === undefined ? {} : { n: Number(n) }),
		}
	}
}

/** Serves the model at `/parts`, at `/own` within a scope, and at `/hidden` with a part of the key that isn't visible. */
export function serveParts(model: Model): Asked {
	const log = new Log()
	const handlers = {
		parts: new CrudHandler(model, OPTIONS),
		own: new OwnParts(model, OPTIONS),
		hidden: new CrudHandler(model, {
			...OPTIONS,
			visible: ['day', 'n', ...CHANGEABLE],
			searchable: ['title'],
		}),
	}
	const server = createServer(handlers, { logger: log, logRequests: false })
	return { log, ask: (request) => server.inject(request) }
}

const place = fc.oneof(
	{ weight: 5, arbitrary: fc.constant({ path: '/parts', owner: {} }) },
	{ weight: 1, arbitrary: fc.constant({ path: '/hidden', owner: {} }) },
	{
		weight: 4,
		arbitrary: fc
			.record(
				{
					'x-day': fc.constantFrom('2026-11-20', '2026-11-20', '2026-11-20', '2026-11-21'),
					'x-tag': fc.constantFrom('a', 'a', 'A', 'a,b', 'a|A'),
					'x-n': fc.constantFrom('0', '1', '1'),
				},
				{ requiredKeys: [] },
			)
			.map((owner) => ({ path: '/own', owner })),
	},
)
const encoded = (...names: string[]): fc.Arbitrary<string> =>
	fc
		.tuple(...names.map(goodPart))
		.map((values) => values.map((value) => encodeURIComponent(String(value))).join())
const id = fc.oneof(
	{ weight: 8, arbitrary: fc.integer({ min: 0, max: 4 }).map((n) => `{{${n}}}`) },
	{ weight: 4, arbitrary: encoded('day', 'tag', 'n') },
	{ weight: 4, arbitrary: fc.oneof(encoded('tag', 'n'), encoded('day', 'n'), encoded('day', 'tag')) },
	{ weight: 3, arbitrary: fc.oneof(encoded('day'), encoded('tag'), encoded('n')) },
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			...[',,', ',', '2026-11-20,a,1,', ',2026-11-20,a,1', '2026-11-20,a,01', '2026-11-20,a,1.0', '%2C'],
			...['2026-11-20%2Ca%2C1', '2026-11-20,%61,%31', '2026-11-20,a,b,1', '2026-02-30,a,1', '20261120,a,1'],
			...['2026-11-20,a,9007199254740993', '2026-11-20,a,-0', '2026-11-20,%252C,1', '2026-11-20,%FF,1'],
			...['2026-11-20,a%00,1', `2026-11-20,${'x'.repeat(21)},1`, "'%20or%201=1,a,1", '{{1}},', '{{1}}/'],
		),
	},
)

export const partSequence = sequenceOf({
	...{ home: '/parts', place, id },
	...{ fields: PART_FIELDS, required: ['day', 'tag', 'title'], changeable: CHANGEABLE },
	strangers: ['version', 'nothing', '__proto__', ''],
	titles: { day: '2026-11-20', tag: 'a', title: 'a' },
	...{ readable: [...PART_FIELDS, 'version'], unreadable: ['id', 'secret'] },
	texts: /tag|title|note/,
	valueFor: (name) => (name === 'version' ? fc.integer({ min: 0, max: 4 }) : goodPart(name)),
})
