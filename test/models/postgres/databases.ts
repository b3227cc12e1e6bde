/**
 * Databases by each driver, as `helpers/postgres.ts` opens them; but a PGlite that was closed is opened again by the next
 * test, and a second one is a copy of the first: making one takes four seconds of computing.
 */
import { PGlite } from '@electric-sql/pglite'
import { openDatabase as openAny, type TestDatabase } from '../../helpers/postgres.ts'

type Asked = Parameters<typeof openAny>

/** The initial contents of a PGlite's folder. */
let empty: Promise<Blob> | undefined
/** Those not in use: like the server's database, without the tables of earlier tests, which clean up. */
const idle: PGlite[] = []

/** Opens a database with a driver; PGlite's is in memory, and exclusive until it is closed. */
export async function openDatabase(...[name, settings = {}, options]: Asked): Promise<TestDatabase> {
	if (name !== 'PGlite') return openAny(name, settings, options)
	const lite = idle.pop() ?? (await made())
	for (const [key, value] of Object.entries(settings)) await lite.exec(`set ${key} = '${value}'`)
	const exec = async (text: string) => void (await lite.exec(text))
	const close = async () => {
		await lite.exec('discard all')
		idle.push(lite)
	}
	return { name, database: lite, exec, close }
}

/** The same, opened on first use: starting a PGlite blocks the process for a while. */
export function databaseLater(...of: Asked): () => Promise<TestDatabase> {
	let opened: Promise<TestDatabase> | undefined
	return () => {
		opened ??= openDatabase(...of)
		return opened
	}
}

async function made(): Promise<PGlite> {
	if (empty !== undefined) return PGlite.create({ loadDataDir: await empty })
	const first = PGlite.create()
	empty = first.then((lite) => lite.dumpDataDir('none'))
	await empty
	return first
}
