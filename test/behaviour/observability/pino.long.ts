/** Real pino as the logger: its output and its types. It is installed into a separate folder, as it is no dependency. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createServer, type Logger, RestHandler } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { ROOT, run } from '../../helpers/program.ts'

class Blog extends RestHandler {
	get_article(id: string) {
		return id
	}

	get_broken() {
		throw new TypeError('the disk is full', { cause: new Error('ENOSPC') })
	}
}

/** The users' own line: a pino, and a child of it, are loggers. */
const TYPED = `import { pino } from 'pino'
import { createServer, type Logger } from '${ROOT}/lib/index.ts'
const own: Logger = pino()
createServer({}, { logger: pino() })
createServer({}, { logger: pino().child({ service: 'blog' }) })
export { own }
`

const STRICT = {
	compilerOptions: {
		...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
		...{
			module: 'esnext',
			moduleResolution: 'bundler',
			target: 'es2023',
			lib: ['es2023', 'esnext.disposable'],
		},
		...{ types: ['node'], typeRoots: [`${ROOT}/node_modules/@types`], allowImportingTsExtensions: true },
		...{ skipLibCheck: true },
	},
	include: ['*.ts'],
}

describe('pino', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-pino-'))
	const lines: Record<string, unknown>[] = []
	let logger: Logger | undefined

	test.before(async () => {
		cpSync(`${ROOT}/test/behaviour/observability/pino`, folder, { recursive: true })
		const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
		const { code, output } = await run({ program: 'npm', args, cwd: folder })
		assert.is(code, 0, output)
		const pino = createRequire(`${folder}/`)('pino') as (options: object, stream: object) => Logger
		const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
		logger = pino({ base: null }, { write })
	})

	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('its types are assignable to our logger', async () => {
		writeFileSync(join(folder, 'typed.ts'), TYPED)
		writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT))
		const { output } = await run({ args: [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', folder] })
		assert.is(output, '')
	})

	test('a request is logged at level 30, an error at level 50 with its stack and cause', async () => {
		assert.ok(logger)
		const server = createServer({ blog: new Blog() }, { logger, requestId: 'X-Request-Id' })
		const { url } = await server.listen()
		try {
			const headers = {
				'X-Request-Id': 'abc-1',
				traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
			}
			await (await fetch(`${url}/blog/article/5?token=secret`, { headers })).text()
			await until(() => lines.length === 1, 'a line')
			await (await fetch(`${url}/blog/broken`)).text()
			await until(() => lines.length === 3, 'two lines more')
		} finally {
			await server.close()
		}
		const [{ time, durationMs, ...first } = {}, failed, third] = lines
		assert.equal([typeof time, typeof durationMs], ['number', 'number'])
		assert.equal(first, {
			...{ level: 30, requestId: 'abc-1', method: 'GET', url: '/blog/article/5' },
			...{ handler: 'Blog', action: 'get_article', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' },
			...{ route: '/blog/article/{id}', status: 200, bytes: 27, ip: '127.0.0.1', msg: 'request' },
		})
		assert.equal([failed?.level, failed?.msg], [50, 'get_broken failed'])
		const { type, message, stack } = (failed?.err ?? {}) as Record<string, string>
		assert.equal([type, message], ['TypeError', 'the disk is full: ENOSPC'])
		assert.match(stack ?? '', 'get_broken')
		assert.equal([third?.level, third?.msg, third?.status], [50, 'request', 500])
		assert.is(third?.requestId, failed?.requestId)
	})
})
