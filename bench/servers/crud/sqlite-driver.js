/** The driver of all SQLite servers of a run: better-sqlite3, or the one named by BENCH_SQLITE_DRIVER. */
const { default: Database } = await import(process.env.BENCH_SQLITE_DRIVER ?? 'better-sqlite3')

/** Opens a file with the settings that the drivers' documentation recommends for servers. */
export function openFile(url) {
	const file = new Database(url)
	file.pragma('journal_mode = WAL')
	return file
}

export { Database }
