/**
 * Databases by each driver, as `helpers/postgres.ts` opens them; but a PGlite that was closed is opened again by the next
 * test, and each starts from the contents of a new one, which are kept in `node_modules/.cache`: making them takes four
 * seconds of computing, loading them half a second.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'
import { openDatabase as openAny, type TestDatabase } from '../../helpers/postgres.ts'
import { ROOT } from '../../helpers/program.ts'

type Asked = Parameters<typeof openAny>

/** The initial contents of a PGlite's folder, a tar archive. */
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
		// One that nobody uses again is closed: its timer for statistics may go off every ten seconds, for ever.
		setTimeout(() => {
			const at = idle.indexOf(lite)
			if (at >= 0) void idle.splice(at, 1)[0]?.close()
		}, 4_000).unref()
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
	empty ??= contents()
	return PGlite.create({ loadDataDir: await empty })
}

/** The kept contents; made and kept by the first run with this version of PGlite. */
async function contents(): Promise<Blob> {
	const manifest = await readFile(`${ROOT}/node_modules/@electric-sql/pglite/package.json`, 'utf8')
	const { version } = JSON.parse(manifest) as { version: string }
	const folder = `${ROOT}/node_modules/.cache/verbena`
	const file = `${folder}/pglite-${version}.tar`
	const kept = await readFile(file).catch(() => undefined)
	if (kept !== undefined) return new Blob([kept])
	const lite = await PGlite.create()
	const made = await lite.dumpDataDir('none')
	await lite.close()
	await mkdir(folder, { recursive: true })
	// Renamed when complete: another run may read it at any time.
	const own = `${file}.${process.pid}`
	await writeFile(own, made.stream())
	await rename(own, file)
	return made
}
