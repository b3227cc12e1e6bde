/** The workloads with related records: requests, and what must be equal in the responses. */
import { RELATED_PEERS } from '../../peers.ts'
import { draw, type Random } from '../../random.ts'
import { get } from '../../requests.ts'
import type { Series, Workload } from '../../workload.ts'
import { DATABASES, type DatabaseName, urlOf } from '../databases.ts'
import { LIMIT, recordPath } from '../requests.ts'
import { ensureBlog } from '../seed.ts'
import { ARTICLES, BLOG, LARGE_ARTICLE, WRITERS } from './tables.ts'

const INCLUDE = `include=${encodeURIComponent('{"author":true,"comments":{"sort":"-created"}}')}`
/** Lists begin at a random offset below this, so that the article with many comments isn't in them. */
const OFFSETS = 2_000
/** The offset of the article with many comments, newest first. */
const LARGE_PLACE = ARTICLES - LARGE_ARTICLE
/** Records per list of filter and sort: few, as JSON isn't what these measure. */
const FEW = 25

export const RELATED_WORKLOADS: readonly Workload[] = DATABASES.flatMap((database) => [
	workload(database, 'list', [alone((random) => pageAt(random(OFFSETS)))], peersOn(database)),
	workload(
		database,
		'read',
		[alone((random) => get(`${recordPath('article', ARTICLES, random)}?${INCLUDE}`))],
		peersOn(database),
	),
	workload(
		database,
		'large',
		[
			series('without', (random) => pageAt(LARGE_PLACE - 300 + random(LIMIT))),
			series('with', (random) => pageAt(LARGE_PLACE - LIMIT + 1 + random(LIMIT))),
		],
		['verbena'],
	),
	workload(database, 'filter', [alone(commentedBy)], ['expert', 'verbena']),
	workload(database, 'sort', [alone(byAuthor)], ['expert', 'verbena']),
])

function peersOn(database: DatabaseName): string[] {
	const all = ['expert', 'gathered', 'verbena', 'fastify', 'prisma', 'drizzle']
	// SQLite gathers nothing, as it runs in the server. Prisma and Drizzle are set up only for PostgreSQL.
	const few = { postgres: all, mariadb: all.slice(0, 4), sqlite: ['expert', 'verbena', 'fastify'] }
	return few[database]
}

function pageAt(offset: number): Buffer {
	return get(`/api/article?limit=${LIMIT}&offset=${offset}&sort=-created&${INCLUDE}`)
}

function commentedBy(random: Random): Buffer {
	const writer = encodeURIComponent(`Writer ${random(WRITERS)}`)
	return get(`/api/article?limit=${FEW}&sort=-created&comments.writer=${writer}`)
}

function byAuthor(random: Random): Buffer {
	return get(`/api/article?limit=${FEW}&offset=${random(100)}&sort=author.name`)
}

function alone(request: (random: Random) => Buffer): Series {
	return series('', request)
}

function series(name: string, request: (random: Random) => Buffer): Series {
	const requests = draw(1_024, request)
	return { name, requests: () => requests }
}

function workload(
	database: DatabaseName,
	what: string,
	series: readonly Series[],
	names: readonly string[],
): Workload {
	return {
		name: `related-${database}-${what}`,
		status: 200,
		peers: RELATED_PEERS.filter(
			({ name }) => names.includes(name) && (name !== 'gathered' || what === 'read'),
		),
		lenient: false,
		database,
		comparable: withoutOwn,
		async prepare() {
			await ensureBlog(database)
			return { app: { database, url: urlOf(database), tables: BLOG }, series, refused: [] }
		},
	}
}

/**
 * Only Verbena's related lists say whether there are more records, and only its pages have a `Link`. Both are removed, so the
 * peers do less. Cursors are each server's own, and replaced. The rest is compared as JSON.
 */
function withoutOwn(answer: string): string {
	const start = answer.indexOf('\n{')
	const json = JSON.stringify(JSON.parse(answer.slice(start)), (key, value: unknown) => {
		if (key === 'next' && typeof value === 'string') return '…'
		return key === 'comments' && isPage(value) ? value.data : value
	})
	const head = answer.slice(0, start + 1)
	return head.replace(/^link: .*\n/m, '').replace(/^content-length: \d+$/m, 'content-length: …') + json
}

function isPage(value: unknown): value is { readonly data: unknown } {
	return typeof value === 'object' && value !== null && 'data' in value
}
