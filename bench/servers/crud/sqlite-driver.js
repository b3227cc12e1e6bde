/** The driver that all SQLite servers of a run use: better-sqlite3, or what BENCH_SQLITE_DRIVER names. */
const { default: Database } = await import(process.env.BENCH_SQLITE_DRIVER ?? 'better-sqlite3')

/** Opens a file as these drivers' documentation advises for servers. */
export function openFile(url) {
	const file = new Database(url)
	file.pragma('journal_mode = WAL')
	return file
}

export { Database }
