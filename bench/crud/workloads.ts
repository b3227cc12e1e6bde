/** The CRUD workloads: requests, and the tables they use. */
import { BARE, CRUD_PEERS } from '../peers.ts'
import { draw, type Random } from '../random.ts'
import { get, patch, post } from '../requests.ts'
import type { Prepared, Series, Workload } from '../workload.ts'
import { DATABASES, type DatabaseName, urlOf } from './databases.ts'
import { changedArticle, cursorsOf, LIMIT, newArticle, pageAt, pageBehind, recordPath } from './requests.ts'
import { ensureTable } from './seed.ts'
import { ROWS, tableOf, WRITTEN } from './tables.ts'

/** Lists begin at a random offset below this. */
const OFFSETS = 2_000
/** Rows of the tables that show how the cost grows with their size. */
const GROWTH: readonly number[] = [1_000, ROWS, 1_000_000]
/** The numbers of connections to compare; other workloads have 32 by default. */
const CONNECTIONS: readonly number[] = [1, 8, 32, 128]
/** Peers of the workloads that compare different requests to one server. */
const FEW = CRUD_PEERS.filter(({ name }) => name === 'fastify' || name === 'verbena')

const article = (random: Random): Buffer => get(recordPath('article', ROWS, random))
const page = (random: Random): Buffer => pageAt('article', random(OFFSETS))

const CREATE = writing('create', 201, (random) => post('/api/article', newArticle(random)))
const MANY: Workload = {
	...writing('many', 201, (random) => post('/api/article-many', listOf(random))),
	peers: CRUD_PEERS.filter(({ name }) => ['fastify', 'verbena', 'expert'].includes(name)),
}

/** All CRUD workloads, in the order in which they run. */
export const CRUD_WORKLOADS: readonly Workload[] = [
	...DATABASES.flatMap((database) => [reading(database, 'read', article), reading(database, 'list', page)]),
	CREATE,
	writing('update', 200, (random) => patch(recordPath('article', ROWS, random), changedArticle(random))),
	MANY,
	hundred(),
	...CONNECTIONS.flatMap((connections) => [
		{ ...reading('postgres', 'read', article), name: `crud-sweep-read-${connections}`, connections },
		{ ...reading('postgres', 'list', page), name: `crud-sweep-list-${connections}`, connections },
	]),
	...DATABASES.map(deepening),
	...DATABASES.map(growing),
]

function reading(database: DatabaseName, what: string, request: (random: Random) => Buffer): Workload {
	const requests = draw(4_096, request)
	const series = [{ name: '', requests: () => requests }]
	const peers = what === 'read' ? [...CRUD_PEERS, BARE] : CRUD_PEERS
	return { ...workload(database, `crud-${database}-${what}`, [ROWS], () => series), peers }
}

/** 100 new articles, the most that one request may have. */
function listOf(random: Random): string {
	return `[${Array.from({ length: LIMIT }, () => newArticle(random)).join()}]`
}

function writing(what: string, status: number, request: (random: Random) => Buffer): Workload {
	const requests = draw(what === 'many' ? 256 : 4_096, request)
	const wrong = [{ title: null }, { views: 'many' }, { views: 3e9 }, { published: 2 }]
	return {
		...workload('postgres', `crud-postgres-${what}`, [], () => []),
		status,
		comparable: (answer) => withoutCursor(what === 'update' ? answer : withoutOwn(answer)),
		async prepare() {
			await ensureTable('postgres', WRITTEN, ROWS, { anew: true })
			return {
				app: { database: 'postgres', url: urlOf('postgres'), tables: { article: WRITTEN } },
				series: [{ name: '', requests: () => requests }],
				refused: wrong.map((fields) => broken(what, fields)),
			}
		},
	}
}

function broken(what: string, fields: object): Buffer {
	const good: object = JSON.parse(newArticle(() => 1))
	const body = JSON.stringify({ ...good, ...fields })
	if (what === 'many') return post('/api/article-many', `[${JSON.stringify(good)},${body}]`)
	return what === 'create'
		? post('/api/article', body)
		: patch(
				recordPath('article', ROWS, () => 1),
				body,
			)
}

/** A hundred new articles by a client with one connection: in one request each, and all in one request. */
function hundred(): Workload {
	return {
		...MANY,
		...{ name: 'crud-hundred-postgres', peers: FEW, connections: 1 },
		async prepare() {
			const [each, all] = [await CREATE.prepare(), await MANY.prepare()]
			const series = [...each.series, ...all.series].map(({ requests }, at) => ({
				name: at === 0 ? 'one each' : 'all in one',
				requests,
			}))
			return { ...all, series }
		},
	}
}

/** Pages far from the start of a list, by offset and by cursor. */
function deepening(database: DatabaseName): Workload {
	const depths = [0, 10_000, 90_000]
	const starts = (depth: number): number[] => draw(256, (random) => depth + random(100))
	const series = (): Series[] => [
		...depths.map((depth) => ({
			name: `offset ${depth}`,
			requests: () => starts(depth).map((offset) => pageAt('article', offset)),
		})),
		{
			name: 'cursor 90000',
			async requests(port: number) {
				const cursors = await cursorsOf(port, 'article', starts(90_000))
				return cursors.map((cursor) => pageBehind('article', cursor))
			},
		},
	]
	return { ...workload(database, `crud-depth-${database}`, [ROWS], series), peers: FEW }
}

/** The same requests to tables of different sizes. */
function growing(database: DatabaseName): Workload {
	const series = (): Series[] =>
		GROWTH.flatMap((rows) => {
			const name = rows === ROWS ? 'article' : `article-${rows}`
			const read = draw(4_096, (random) => get(recordPath(name, rows, random)))
			const list = draw(4_096, (random) => pageAt(name, random(800)))
			return [
				{ name: `read of ${rows}`, requests: () => read },
				{ name: `list of ${rows}`, requests: () => list },
			]
		})
	return { ...workload(database, `crud-growth-${database}`, GROWTH, series), peers: FEW }
}

function workload(
	database: DatabaseName,
	name: string,
	sizes: readonly number[],
	series: () => readonly Series[],
): Workload {
	return {
		name,
		status: 200,
		peers: CRUD_PEERS,
		lenient: false,
		database,
		comparable: withoutCursor,
		async prepare(): Promise<Prepared> {
			for (const rows of sizes) await ensureTable(database, tableOf(rows), rows)
			const tables = sizes.map((rows) => [rows === ROWS ? 'article' : `article-${rows}`, tableOf(rows)])
			return {
				app: { database, url: urlOf(database), tables: Object.fromEntries(tables) },
				series: series(),
				refused: [],
			}
		},
	}
}

/**
 * Cursors are each server's own, and only Verbena sends a `Link` to the next page, so both are removed. The page behind a cursor
 * is compared where a workload follows it. Some databases write spaces and `1.0`, so bodies are compared as JSON.
 */
function withoutCursor(answer: string): string {
	const body = answer.indexOf('\n{')
	const json = JSON.stringify(JSON.parse(answer.slice(body)))
	return (answer.slice(0, body + 1) + json)
		.replace(/"next":"[^"]+"/, '"next":"…"')
		.replace(/^link: .*\n/m, '')
		.replace(/^content-length: \d+$/m, 'content-length: …')
}

/** Removes what differs between new records: id and timestamps. */
function withoutOwn(answer: string): string {
	return answer
		.replace(/"id":\d{7}/g, '"id":0')
		.replace(/^location: (\S+\/)\d{7}$/m, 'location: $1…')
		.replace(/"(created|updated)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"$1":"…"')
}
