/**
 * Databases by each driver, as `helpers/postgres.ts` opens them; but a PGlite that was closed is opened again by the next
 * test, and a second one is a copy of the first: making one takes four seconds of computing.
 */
import { PGlite } from '@electric-sql/pglite'
import { openDatabase as openAny, type TestDatabase } from '../../helpers/postgres.ts'

type Asked = Parameters<typeof openAny>

/** What a PGlite has in its folder at first. */
let empty: Promise<Blob> | undefined
/** Those that no test uses now: like the server's database, without the tables of tests that have cleaned up. */
const idle: PGlite[] = []

/** Opens a database by a driver; PGlite's is in memory, and nobody else's until it is closed. */
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

/** The same, opened when it is first asked for: the start of a PGlite holds up the whole process for a while. */
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
