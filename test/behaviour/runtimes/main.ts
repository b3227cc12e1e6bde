/** Writes what works to the file `OUT`. Test runners await `done`. */
import { writeFileSync } from 'node:fs'
import pg from 'pg'
import { probe } from './probe.ts'

const { OUT = '', DATABASE, TABLE } = process.env

async function main(): Promise<void> {
	const pool = DATABASE === undefined ? undefined : new pg.Pool(JSON.parse(DATABASE) as pg.PoolConfig)
	const works = await probe({ listens: true, database: pool, table: TABLE })
	await pool?.end()
	writeFileSync(OUT, JSON.stringify(works))
}

export const done: Promise<void> = main()
