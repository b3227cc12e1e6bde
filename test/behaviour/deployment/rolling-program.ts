/** One of several processes behind a proxy: `rolling-program.ts <port> <table> <drainDelaySeconds>`. Prints its URL, and ends by SIGTERM. */
import pg from 'pg'
import { CrudHandler, createServer } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SERVER } from '../../helpers/postgres.ts'

const [, , port, table = '', delay] = process.argv
const pool = new pg.Pool({ ...SERVER, max: 2 })
const notes = new CrudHandler(await PostgresModel.open(pool, table), {
	visible: ['id', 'text'],
	updatable: ['text'],
	allow: ['read', 'create'],
})
const server = createServer(
	{ note: notes },
	{ health: { path: 'health', drainDelaySeconds: Number(delay) }, trustProxy: 1, hosts: ['127.0.0.1'] },
)
process.once('SIGTERM', async () => {
	await server.close()
	await pool.end()
	process.disconnect()
})
console.log((await server.listen(Number(port))).url)
