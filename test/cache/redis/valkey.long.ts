/** The quick tests of `RedisCache` again, on Valkey: its server takes the place of `redis-server`. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { run } from '../../helpers/program.ts'
import { openClient, ownRedis } from './servers.ts'

/** Debian's `valkey-tools` has the server too, by this name; `valkey-server` would start a service. */
const VALKEY = '/usr/bin/valkey-check-rdb'
const FILES = '^cache/redis/(?:contract|failover|redis-cache|room|shares)\\.test\\.ts$'

if (existsSync(VALKEY))
	describe('RedisCache on Valkey', (test) => {
		test('passes the tests that it passes on Redis, with all clients', async () => {
			const folder = await mkdtemp(join(tmpdir(), 'verbena-valkey-'))
			const { PATH = '' } = process.env
			const path = `${folder}${delimiter}${PATH}`
			try {
				await symlink(VALKEY, join(folder, 'redis-server'))
				process.env.PATH = path
				const server = await ownRedis()
				try {
					await server.start()
					const client = openClient('iovalkey', server.port)
					assert.match(String(await client.command('INFO', 'server')), /\nserver_name:valkey\r/)
					client.close()
					const args = ['--import', 'tsx', 'node_modules/uvu/bin.js', 'test', FILES]
					const { code, output } = await run({ args, env: { PATH: path, REDIS_PORT: String(server.port) } })
					assert.is(code, 0, stripVTControlCharacters(output))
					assert.match(stripVTControlCharacters(output), /Total: +2\d\d\n/)
				} finally {
					await server.remove()
				}
			} finally {
				process.env.PATH = PATH
				await rm(folder, { recursive: true, force: true })
			}
		})
	})
else if (process.env.CI === 'true') throw new Error(`there is no Valkey, ${VALKEY}`)
else console.error(`SKIPPED: there is no Valkey, ${VALKEY}`)
