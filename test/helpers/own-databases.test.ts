/** `ownDatabases` when a server is down or refuses to create a database. */
import * as assert from 'uvu/assert'
import { describe } from './describe.ts'
import { ROOT, start } from './program.ts'

const MAKES = `import { ownDatabases } from '${ROOT}/test/helpers/own-databases.ts'
const { env, drop } = await ownDatabases()
await drop()
console.log(JSON.stringify(Object.keys(env)))`

describe('own databases', (test) => {
	test('a run whose server refuses to create them continues, and ends', async () => {
		const { child, ended, output } = start({
			args: ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', MAKES],
			// Nothing can be created in a read-only transaction; nothing listens on port 1.
			env: { PGOPTIONS: '-c default_transaction_read_only=on', MYSQL_TCP_PORT: '1', REDIS_PORT: '1' },
		})
		const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
		try {
			assert.is(await ended, 0, output())
			assert.match(output(), /PGDATABASE stays[\s\S]*\[\]/)
		} finally {
			clearTimeout(late)
		}
	})
})
