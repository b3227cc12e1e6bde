/** The targets of CRUD. */
import { ratios } from '../results.ts'
import { compared, type Target } from '../target.ts'
import { DATABASES, type DatabaseName } from './databases.ts'
import { LIMIT } from './requests.ts'

const LIST = 'list of 100'
const ONE = 'one record'

export const CRUD_TARGETS: readonly Target[] = [
	compared('crud-postgres-read', `PostgreSQL, ${ONE}`, 'fastify', 2.6, 'rate'),
	compared('crud-postgres-read', `PostgreSQL, ${ONE}`, 'expert', 1, 'rate'),
	compared('crud-postgres-list', `PostgreSQL, ${LIST}`, 'fastify', 1.15, 'rate'),
	compared('crud-postgres-list', `PostgreSQL, ${LIST}`, 'fastify', 2.4),
	compared('crud-postgres-list', `PostgreSQL, ${LIST}`, 'expert', 0.95, 'rate'),
	compared('crud-postgres-create', 'PostgreSQL, create', 'fastify', 1.2, 'rate'),
	compared('crud-postgres-update', 'PostgreSQL, update', 'fastify', 1.3, 'rate'),
	compared('crud-postgres-many', 'PostgreSQL, create of 100 in one request', 'fastify', 1, 'rate'),
	hundred(),
	compared('crud-mariadb-read', `MariaDB, ${ONE}`, 'fastify', 2, 'rate'),
	compared('crud-mariadb-list', `MariaDB, ${LIST}`, 'fastify', 1.2, 'rate'),
	compared('crud-mariadb-list', `MariaDB, ${LIST}`, 'fastify', 1.8),
	compared('crud-sqlite-read', `SQLite, ${ONE}`, 'fastify', 1.1, 'rate'),
	compared('crud-sqlite-list', `SQLite, ${LIST}`, 'fastify', 1.8, 'rate'),
	alone('read', ONE),
	alone('list', LIST),
	...DATABASES.map(deep),
]

/** The response time with one connection, as the reciprocal of requests per second. */
function alone(what: string, title: string): Target {
	const workload = `crud-sweep-${what}-1`
	return {
		text: `PostgreSQL, ${title}, latency at 1 connection against fastify's`,
		workloads: [workload],
		bound: 1.05,
		kind: 'at most',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'fastify', 'verbena', 'rate')),
	}
}

/** Judged by records per second. */
function hundred(): Target {
	const workload = 'crud-hundred-postgres'
	return {
		text: 'PostgreSQL, 100 records in one request against a request each, one after another',
		workloads: [workload],
		bound: 15,
		kind: 'at least',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'verbena all in one', 'verbena one each', 'rate'))
				.map((ratio) => ratio * LIMIT),
	}
}

function deep(database: DatabaseName): Target {
	const workload = `crud-depth-${database}`
	return {
		text: `${database}, time of a cursor's page at depth 90,000 against the first page`,
		workloads: [workload],
		bound: 1.2,
		kind: 'at most',
		unit: '×',
		values: (results) =>
			results
				.filter((result) => result.workload === workload)
				.flatMap((result) => ratios(result, 'verbena offset 0', 'verbena cursor 90000', 'rate')),
	}
}
