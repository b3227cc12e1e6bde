/** The targets of related records. */
import { ratios } from '../../results.ts'
import { compared, type Target } from '../../target.ts'
import { DATABASES, type DatabaseName } from '../databases.ts'

const LIST = 'list of 100 with author and comments'
const ONE = 'one record with author and comments'

/**
 * Judged by the CPU time of server and database together, as work can move from one to the other. Three queries are judged by
 * requests per second: while their results are put together, the server's one thread is busy, and the database waits.
 */
export const RELATED_TARGETS: readonly Target[] = [
	compared('related-postgres-list', `PostgreSQL, ${LIST}`, 'expert', 1, 'total'),
	compared('related-postgres-list', `PostgreSQL, ${LIST}`, 'fastify', 2, 'rate'),
	compared('related-postgres-list', `PostgreSQL, ${LIST}`, 'prisma', 4, 'total'),
	compared('related-postgres-list', `PostgreSQL, ${LIST}`, 'drizzle', 4, 'total'),
	compared('related-postgres-read', `PostgreSQL, ${ONE}`, 'expert', 1.5, 'total'),
	compared('related-mariadb-list', `MariaDB, ${LIST}`, 'expert', 1, 'total'),
	compared('related-sqlite-list', `SQLite, ${LIST}`, 'expert', 1, 'total'),
	...DATABASES.map(large),
	...DATABASES.flatMap((database) => [
		likeByHand(database, 'filter', 'filter through a relation to many'),
		likeByHand(database, 'sort', 'sort through a relation to one'),
	]),
]

function large(database: DatabaseName): Target {
	const workload = `related-${database}-large`
	return {
		text: `${database}, a page with a record that has 200,000 related ones against one without, CPU`,
		workloads: [workload],
		bound: 1.5,
		kind: 'at most',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'verbena without', 'verbena with', 'total')),
	}
}

function likeByHand(database: DatabaseName, what: string, title: string): Target {
	const workload = `related-${database}-${what}`
	return {
		text: `${database}, ${title}, CPU against expert's`,
		workloads: [workload],
		bound: 1.1,
		kind: 'at most',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'expert', 'verbena', 'total')),
	}
}
