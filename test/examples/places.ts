/** Empty databases for the example blog: an SQLite file, and one of PostgreSQL and of MariaDB where these are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { MARIADB, mariadbIsHere } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'

/** For as long as the test runs. */
const NAME = `verbena_blog_${process.pid}`

/** An empty database. */
export interface Place {
	readonly name: string
	readonly url: string
	/** How the blog calls it. */
	readonly said: string
	drop(): Promise<void>
}

export function sqlitePlace(): Place {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-blog-'))
	const file = `${folder}/my blog.db`
	const drop = async () => rmSync(folder, { recursive: true, force: true })
	return { name: 'SQLite', url: `sqlite:${encodeURI(file)}`, said: `SQLite, ${file}`, drop }
}

async function postgresPlace(): Promise<Place> {
	const { host, port, user, password = '' } = { password: undefined, ...SERVER }
	const client = new pg.Client(SERVER)
	await client.connect()
	await client.query(`drop database if exists ${NAME}`)
	await client.query(`create database ${NAME}`)
	return {
		name: 'PostgreSQL',
		url: `postgres://${user}:${password}@${host}:${port}/${NAME}`,
		said: `PostgreSQL at ${host}:${port}/${NAME}`,
		async drop() {
			await client.query(`drop database ${NAME} with (force)`)
			await client.end()
		},
	}
}

async function mariadbPlace(): Promise<Place> {
	const { host, port, user, password } = MARIADB
	const connection = await mysql.createConnection(MARIADB)
	await connection.query(`drop database if exists ${NAME}`)
	await connection.query(`create database ${NAME}`)
	return {
		name: 'MariaDB',
		url: `mysql://${user}:${password}@${host}:${port}/${NAME}`,
		said: `MariaDB or MySQL at ${host}:${port}/${NAME}`,
		async drop() {
			await connection.query(`drop database ${NAME}`)
			await connection.end()
		},
	}
}

/** Their names, and what makes each. */
export async function places(): Promise<(readonly [name: string, make: () => Place | Promise<Place>])[]> {
	const makers: (readonly [string, () => Place | Promise<Place>])[] = [['SQLite', sqlitePlace]]
	if ((await driversHere()).includes('pg')) makers.push(['PostgreSQL', postgresPlace])
	if (await mariadbIsHere()) makers.push(['MariaDB', mariadbPlace])
	return makers
}
