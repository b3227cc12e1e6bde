import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer as createNetServer, type ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as assert from 'uvu/assert'
import { createServer, type ListenPath, RestHandler, type Server, type TrustProxy } from '../../lib/index.ts'
import { bundled } from '../helpers/bundled.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'
import { ask, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	get_ip() {
		return this.request.ip
	}
}

/** Runs `use` with a temporary folder, and a server that is closed afterwards. */
async function on(
	use: (server: Server, path: string) => Promise<void>,
	options: { trustProxy?: TrustProxy } = {},
): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-'))
	const server = createServer({ '': Site }, { logger: new Log(), logRequests: false, ...options })
	try {
		await use(server, join(folder, 'app.sock'))
	} finally {
		await server.close()
		rmSync(folder, { recursive: true })
	}
}

async function fetched(socketPath: string, headers: Record<string, string> = {}): Promise<unknown> {
	const request = get({ socketPath, path: '/ip', headers })
	const [response] = await once(request, 'response')
	return JSON.parse(await text(response)).data
}

async function refusal(promise: Promise<unknown>): Promise<NodeJS.ErrnoException> {
	return promise.then(
		() => assert.unreachable('it was not refused') as never,
		(error: NodeJS.ErrnoException) => error,
	)
}

/** Opens a socket, and passes it as descriptor 3. */
const PARENT = `
	const server = require('node:net').createServer().listen(JSON.parse(process.argv[1]), () => {
		const stdio = ['inherit', 'inherit', 'inherit', server._handle.fd]
		require('node:child_process').spawn(process.execPath, process.argv.slice(2), { stdio })
	})`

/**
 * Runs a program that is handed a listening socket; `use` is given what it prints. Whoever has opened the socket is stopped
 * first, as it would accept connections, too.
 */
async function handedOver(
	at: ListenOptions,
	use: (printed: unknown) => Promise<void>,
	...trusted: readonly string[]
): Promise<void> {
	const program = await bundled(`${ROOT}/test/server/listen-fd.ts`, ...trusted)
	const args = ['-e', PARENT, JSON.stringify(at), ...program]
	const parent = spawn(process.execPath, args, {
		cwd: ROOT,
		stdio: ['pipe', 'pipe', 'inherit'],
	})
	const ended = once(parent, 'close')
	try {
		const [line] = await once(parent.stdout, 'data')
		parent.kill('SIGSTOP')
		await use(JSON.parse(String(line)))
	} finally {
		parent.kill('SIGKILL')
		parent.stdin.destroy()
		await ended
	}
}

describe('listen({ path })', (test) => {
	test('serves on a Unix socket, reports its URL, and removes its file when closed', () =>
		on(async (server, path) => {
			const at = await server.listen({ path })
			assert.equal(at, { url: `http+unix://${encodeURIComponent(path)}`, path })
			// A program that takes the URL for a TCP one must fail rather than contact a host of that name.
			assert.is(new URL(at.url).protocol, 'http+unix:')
			assert.is(await fetched(path), '')
			await server.close()
			assert.not(existsSync(path))
		}))

	test('a proxy in front counts as the first hop of trustProxy', () =>
		on(
			async (server, path) => {
				await server.listen({ path })
				assert.is(await fetched(path, { 'X-Forwarded-For': '203.0.113.7' }), '203.0.113.7')
			},
			{ trustProxy: 1 },
		))

	test('is accessible to other users only with writableAll', () =>
		on(async (server, path) => {
			await server.listen({ path, writableAll: true })
			assert.is(statSync(path).mode & 0o666, 0o666)
			await on(async (other, own) => {
				await other.listen({ path: own })
				assert.is(statSync(own).mode & 0o777, 0o777 & ~process.umask())
			})
		}))

	test('is refused where another server listens, and can be retried', () =>
		on(async (server, path) => {
			await server.listen({ path })
			await on(async (other, free) => {
				assert.is((await refusal(other.listen({ path }))).code, 'EADDRINUSE')
				assert.is((await other.listen({ path: free })).path, free)
			})
		}))

	test('proxy addresses are refused, as a socket has none', () =>
		on(
			async (server, path) => {
				const error = await refusal(server.listen({ path }))
				assert.match(
					error.message,
					'trustProxy: a list of addresses matches no client of a Unix socket: write',
				)
				assert.not(server.server.listening)
				assert.not(existsSync(path))
			},
			{ trustProxy: ['127.0.0.1'] },
		))

	test('replaces a socket file left by a killed process', () =>
		on(async (server, path) => {
			const killed = spawn(process.execPath, [
				'-e',
				"require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))",
				path,
			])
			await once(killed, 'exit')
			assert.ok(existsSync(path))
			await server.listen({ path })
			assert.is(await fetched(path), '')
		}))

	test('reports that another program answers there, and leaves it alone', () =>
		on(async (server, path) => {
			const other = createNetServer().listen(path)
			await once(other, 'listening')
			try {
				const error = await refusal(server.listen({ path }))
				assert.is(error.code, 'EADDRINUSE')
				assert.is(error.message, `listen: another program listens at ${path}`)
			} finally {
				other.close()
				await once(other, 'close')
			}
		}))

	test('leaves a file alone that is not a socket', () =>
		on(async (server, path) => {
			writeFileSync(path, 'precious')
			const error = await refusal(server.listen({ path }))
			assert.is(error.code, 'EADDRINUSE')
			assert.is(error.message, `listen: ${path} already exists, and is not a socket`)
			assert.is(readFileSync(path, 'utf8'), 'precious')
		}))

	test('reports a missing folder', () =>
		on(async (server, path) => {
			const error = await refusal(server.listen({ path: join(path, 'app.sock') }))
			assert.is(error.message, `listen: there is no folder ${path}`)
		}))

	const WRONG: [at: unknown, message: RegExp][] = [
		[{}, /path must be that of a Unix socket: '\/run\/app\.sock'/],
		[{ path: '' }, /path must be that of a Unix socket/],
		[{ path: 5 }, /path must be that of a Unix socket/],
		[{ path: '/a', writableAll: 1 }, /writableAll must be true or false/],
		[{ path: '/a', fd: 3 }, /a path or an fd, not both/],
		[{ fd: -1 }, /fd must be a whole number from 0 up/],
		[{ fd: '3' }, /fd must be a whole number from 0 up/],
		[{ fd: 1.5 }, /fd must be a whole number from 0 up/],
		[
			'/tmp/app.sock',
			/listen takes a port, got "\/tmp\/app\.sock": write listen\({ path: "\/tmp\/app\.sock" }\)/,
		],
		[{ port: 3000 }, /listen has no option port: write listen\(3000, host\)/],
	]
	for (const [at, message] of WRONG) {
		test(`${JSON.stringify(at)} is refused with a message`, () =>
			on(async (server) => {
				assert.match((await refusal(server.listen(at as ListenPath))).message, message)
				assert.not(server.server.listening)
			}))
	}

	test('a path too long for the system is refused', () =>
		on(async (server, path) => {
			const error = await refusal(server.listen({ path: path + 'a'.repeat(200) }))
			assert.instance(error, RangeError)
			assert.match(error.message, /path may have at most \d+ bytes/)
		}))
})

describe('listen({ fd })', (test) => {
	test('serves on a socket opened by the parent process, as systemd passes it', () =>
		handedOver({ port: 0, host: '127.0.0.1' }, async (printed) => {
			const { url, port } = printed as { url: string; port: number }
			assert.is(url, `http://127.0.0.1:${port}`)
			assert.is((await ask(port, requestText('GET /ip'))).status, 200)
		}))

	test('of a Unix socket, whose path Node does not report, has no URL', () =>
		on((_server, path) =>
			handedOver({ path }, async (printed) => {
				assert.equal(printed, {})
				assert.is(await fetched(path), '')
			}),
		))

	test('of a Unix socket is refused where trustProxy names addresses', () =>
		on((_server, path) =>
			handedOver(
				{ path },
				async (printed) =>
					assert.match(String(printed), 'trustProxy: a list of addresses matches no client of a Unix socket'),
				'127.0.0.1',
			),
		))

	test('that is not a socket is refused', () =>
		on(async (server) => {
			assert.match((await refusal(server.listen({ fd: 9_999 }))).code ?? '', /^E/)
		}))
})

describe('keepAliveTimeoutSeconds', (test) => {
	// A proxy that sends a POST on a connection which is just being closed answers 502, and may not send it again.
	test('is by default longer than the 60 s of nginx and of most load balancers', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			assert.is((await ask(port, requestText('GET /ip'))).headers['keep-alive'], 'timeout=72')
		}))
})
