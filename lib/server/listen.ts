/** `Server.listen()`: checks its arguments (a port, the path of a Unix socket or a file descriptor), listens, returns the URL. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, unlink } from 'node:fs/promises'
import { type AddressInfo, connect, type ListenOptions, type Server } from 'node:net'
import { dirname } from 'node:path'
import type { Bytes } from '../base/time.ts'

/** A Unix socket, or on Windows a named pipe. */
export interface ListenPath {
	/** Where its file is created; `'\0name'` is an abstract socket of Linux, without a file. */
	readonly path: string
	/**
	 * Whether every user of this machine may connect, such as a proxy that runs as another user.
	 * @default false: the umask decides
	 */
	readonly writableAll?: boolean
}

/** A listening socket that the parent process has opened, such as systemd (descriptor 3). */
export interface ListenFd {
	/** Its file descriptor, a whole number from 0 up. */
	readonly fd: number
}

/** Where a server can be reached. */
export interface Listening {
	/** `http://127.0.0.1:3000`, without a trailing slash. */
	readonly url: string
	readonly port: number
	readonly path?: undefined
}

/** Where a server on a Unix socket can be reached. */
export interface ListeningOnPath {
	/** `http+unix://%2Frun%2Fapp.sock`: the path percent-encoded in the place of host and port. */
	readonly url: string
	readonly path: string
	readonly port?: undefined
}

/** A server on the descriptor of a Unix socket, whose path Node doesn't know. */
export interface ListeningUnnamed {
	readonly url: undefined
	readonly path?: undefined
	readonly port?: undefined
}

const OPTIONS = ['path', 'writableAll', 'fd']

/**
 * Maximum length of a socket's path. The kernel's field, which includes a NUL, has 108 bytes on Linux, 104 on the BSDs
 * and macOS.
 */
const MAX_PATH: Readonly<Partial<Record<NodeJS.Platform, Bytes>>> = { linux: 107, win32: Infinity }
const MAX_PATH_ELSEWHERE: Bytes = 103

/**
 * Options for node's `listen`.
 *
 * @throws TypeError or RangeError for an invalid path or descriptor, and for unknown options
 */
export function listenOptions(
	at: number | ListenPath | ListenFd,
	host: string,
): ListenOptions & { fd?: number } {
	const given: unknown = at
	if (typeof given === 'string' && !/^\d+$/.test(given)) {
		const typed = JSON.stringify(given)
		throw new TypeError(
			`listen takes a port, got ${typed}: write listen({ path: ${typed} }) for a Unix socket`,
		)
	}
	if (typeof at !== 'object' || at === null) return { port: at, host }
	for (const name of Object.keys(at)) {
		if (!OPTIONS.includes(name))
			throw new TypeError(
				`listen has no option ${name}: write listen(3000, host), listen({ path, writableAll }) or listen({ fd })`,
			)
	}
	if ('fd' in at) {
		if ('path' in at) throw new TypeError('listen takes a path or an fd, not both')
		if (Number.isInteger(at.fd) && at.fd >= 0) return { fd: at.fd }
		throw new TypeError('fd must be a whole number from 0 up, the descriptor of a socket that listens')
	}
	return pathOptions(at)
}

function pathOptions({ path, writableAll = false }: ListenPath): ListenOptions {
	if (typeof path !== 'string' || path === '')
		throw new TypeError("path must be that of a Unix socket: '/run/app.sock'")
	if (typeof writableAll !== 'boolean') throw new TypeError('writableAll must be true or false')
	const max = MAX_PATH[process.platform] ?? MAX_PATH_ELSEWHERE
	// Node 20 would truncate the path and listen there.
	if (Buffer.byteLength(path) > max)
		throw new RangeError(`path may have at most ${max} bytes, the system's limit for a socket path`)
	return { path, writableAll, readableAll: writableAll }
}

/**
 * Listens; replaces the file of a socket that a killed process has left behind.
 *
 * @param trustsAddresses whether `trustProxy` is a list, which can't match on a Unix socket: all clients would count as
 *   one caller
 * @throws TypeError for such a list on a Unix socket; Error, with node's `code`, when it can't listen
 */
export async function listenWith(
	server: Server,
	options: ListenOptions,
	trustsAddresses: boolean,
): Promise<Listening | ListeningOnPath | ListeningUnnamed> {
	const { path } = options
	if (path !== undefined && trustsAddresses) throw new TypeError(NO_ADDRESS)
	// Linux abstract sockets and Windows pipes have no file.
	const hasFile = path !== undefined && process.platform !== 'win32' && !path.startsWith('\0')
	await (hasFile ? listenAt(path, server, options) : listen(server, options))
	const at = listeningAt(server.address())
	if (trustsAddresses && at.port === undefined) {
		server.close()
		throw new TypeError(NO_ADDRESS)
	}
	return at
}

const NO_ADDRESS =
	'trustProxy: a list of addresses matches no client of a Unix socket: write the number of proxies instead, such as 1'

async function listen(server: Server, options: ListenOptions): Promise<void> {
	server.listen(options)
	await once(server, 'listening')
}

async function listenAt(path: string, server: Server, options: ListenOptions): Promise<void> {
	try {
		await listen(server, options)
	} catch (error) {
		if (codeOf(error) !== 'EADDRINUSE') throw explain(error, path)
		await removeStale(path)
		// Retried even if no file was removed: another cluster worker may listen by now, and workers share the socket.
		await listen(server, options).catch(async (again: unknown) => {
			throw explain(again, path, await isSocket(path))
		})
	}
}

/** Removes the file of a socket that no process listens on. Other files refuse connections too, and are left alone. */
async function removeStale(path: string): Promise<void> {
	// Another process may remove it at the same time.
	if ((await isSocket(path)) && (await isRefused(path))) await unlink(path).catch(() => {})
}

function isSocket(path: string): Promise<boolean> {
	return lstat(path).then(
		(found) => found.isSocket(),
		() => false,
	)
}

function isRefused(path: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect({ path }, () => {
			socket.destroy()
			resolve(false)
		})
		socket.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'))
	})
}

/** Adds the reason to node's error, which for a missing folder is a misleading EACCES. */
function explain(error: unknown, path: string, isListening = true): unknown {
	const code = codeOf(error)
	const folder = dirname(path)
	let reason: string
	if (code === 'EADDRINUSE')
		reason = isListening
			? `another program listens at ${path}`
			: `${path} already exists, and is not a socket`
	else if (existsSync(folder)) return error
	else reason = `there is no folder ${folder}`
	return Object.assign(new Error(`listen: ${reason}`, { cause: error }), { code })
}

function codeOf(error: unknown): unknown {
	return error instanceof Error && 'code' in error ? error.code : undefined
}

function listeningAt(address: AddressInfo | string | null): Listening | ListeningOnPath | ListeningUnnamed {
	if (address === null) return { url: undefined }
	if (typeof address === 'string') return { url: `http+unix://${encodeURIComponent(address)}`, path: address }
	return { url: urlOf(address), port: address.port }
}

function urlOf({ address, family, port }: AddressInfo): string {
	const host =
		address === '0.0.0.0' || address === '::' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
	return `http://${host}:${port}`
}
