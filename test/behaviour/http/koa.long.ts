/** The recipe for Koa of `docs/embedding.md`, run as written, with a Koa that is installed into a separate folder. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { freePorts, ROOT, type Running, run, start, typescript } from '../../helpers/program.ts'
import { ask, requestText } from '../../helpers/raw.ts'

function recipe(): string {
	const [, code] =
		/^## Koa\n[\s\S]*?^```js\n([\s\S]*?)^```$/m.exec(readFileSync(`${ROOT}/docs/embedding.md`, 'utf8')) ?? []
	if (code === undefined) throw new Error('docs/embedding.md has no recipe for Koa')
	return code.replace("'verbena'", `'${ROOT}/lib/index.ts'`)
}

describe('in front of Koa', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-koa-'))
	let host: Running | undefined
	let port = 0

	test.before(async () => {
		cpSync(`${ROOT}/test/behaviour/http/koa`, folder, { recursive: true })
		const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts']
		const { code, output } = await run({ program: 'npm', args, cwd: folder })
		assert.is(code, 0, output)
		const file = join(folder, 'host.ts')
		writeFileSync(file, recipe().replace('get_cat(name)', 'get_cat(name: string)'))
		;[port = 0] = await freePorts(1)
		host = start({ args: typescript(file), cwd: folder, env: { PORT: String(port) } })
		await until(
			() =>
				ask(port, requestText('GET /')).then(
					() => true,
					() => false,
				),
			'it listens',
			20_000,
		)
	})

	test.after(async () => {
		host?.child.kill('SIGKILL')
		await host?.ended
		rmSync(folder, { recursive: true, force: true })
	})

	test('handlers serve their paths, and Koa the rest', async () => {
		const cat = await ask(port, requestText('GET /api/cats/cat/Mia'))
		assert.equal(cat.json(), { success: true, data: { name: 'Mia', url: '/api/cats/cat/Mia' } })
		assert.is((await ask(port, requestText('GET /api/cats/nothing'))).status, 404)
		const other = await ask(port, requestText('GET /other'))
		assert.equal([other.status, other.body.toString()], [200, 'Koa itself'])
	})

	test('bodies are read by Verbena', async () => {
		const type = 'Content-Type: application/json'
		const sent = await ask(port, requestText('POST /api/cats/cat', [type], '{"name":"Mia"}'))
		assert.equal(sent.json(), { success: true, data: { name: 'Mia' } })
		assert.is((await ask(port, requestText('POST /api/cats/cat', [type], '{'))).status, 400)
	})
})
