/**
 * Databases by each driver, as `helpers/postgres.ts` opens them; but a PGlite is given a copy of the folder that the
 * first one of this process has made, as making one takes seconds of computing.
 */
import { PGlite } from '@electric-sql/pglite'
import { openDatabase as openAny, type TestDatabase } from '../../helpers/postgres.ts'

type Asked = Parameters<typeof openAny>

let empty: Promise<Blob> | undefined

/** Opens a database by a driver; PGlite's is in memory, empty, and nobody else's. */
export async function openDatabase(...[name, settings = {}, options]: Asked): Promise<TestDatabase> {
	if (name !== 'PGlite') return openAny(name, settings, options)
	empty ??= emptyFolder()
	const lite = await PGlite.create({ loadDataDir: await empty })
	for (const [key, value] of Object.entries(settings)) await lite.exec(`set ${key} = '${value}'`)
	const exec = async (text: string) => void (await lite.exec(text))
	return { name, database: lite, exec, close: () => lite.close() }
}

/** The same, opened when it is first asked for: the start of a PGlite holds up the whole process for a while. */
export function databaseLater(...of: Asked): () => Promise<TestDatabase> {
	let opened: Promise<TestDatabase> | undefined
	return () => {
		opened ??= openDatabase(...of)
		return opened
	}
}

async function emptyFolder(): Promise<Blob> {
	const lite = await PGlite.create()
	try {
		return await lite.dumpDataDir('none')
	} finally {
		await lite.close()
	}
}
