/** Where `listen()` listens: a port, the path of a Unix socket, or a file descriptor; and the URL of each. */
import type { AddressInfo, ListenOptions } from 'node:net'
import type { Bytes } from '../time.ts'

/** A Unix socket, or on Windows a named pipe. */
export interface ListenPath {
	/** Where its file is made; `'\0name'` is an abstract one of Linux, which has no file. */
	readonly path: string
	/** Whether every user of this machine may connect: a proxy of another user needs it. @default false: as the umask says */
	readonly writableAll?: boolean
}

/** A socket that listens already, opened by whoever started this process (systemd's socket units: 3). */
export interface ListenFd {
	/** Its file descriptor, a whole number from 0 up. */
	readonly fd: number
}

/** Where a server can be reached. */
export interface Listening {
	/** `http://127.0.0.1:3000`, without a slash at its end. */
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

/** A server on a file descriptor that is a Unix socket: Node doesn't tell its path. */
export interface ListeningUnnamed {
	readonly url: undefined
	readonly path?: undefined
	readonly port?: undefined
}

const KNOWN = ['path', 'writableAll', 'fd']

/** Longest path of a socket: the kernel's field with its NUL is 108 bytes of Linux, 104 of the BSDs and macOS. */
const LONGEST: Readonly<Partial<Record<NodeJS.Platform, Bytes>>> = { linux: 107, win32: Infinity }
const LONGEST_ELSEWHERE: Bytes = 103

/**
 * What node's `listen` is given.
 *
 * @throws TypeError or RangeError for a path or descriptor that is none, and for options that don't exist
 */
export function listenOptions(
	at: number | ListenPath | ListenFd,
	host: string,
): ListenOptions & { fd?: number } {
	if (typeof at !== 'object' || at === null) return { port: at, host }
	for (const name of Object.keys(at)) {
		if (!KNOWN.includes(name))
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
	const most = LONGEST[process.platform] ?? LONGEST_ELSEWHERE
	// Node 20 cuts a longer one off, and listens there.
	if (Buffer.byteLength(path) > most)
		throw new RangeError(
			`path may have at most ${most} bytes, as the system takes no longer one for a socket`,
		)
	return { path, writableAll, readableAll: writableAll }
}

/** What is told of where a server listens, as node's `server.address()` knows it. */
export function listeningAt(
	address: AddressInfo | string | null,
): Listening | ListeningOnPath | ListeningUnnamed {
	if (address === null) return { url: undefined }
	if (typeof address === 'string') return { url: `http+unix://${encodeURIComponent(address)}`, path: address }
	return { url: urlOf(address), port: address.port }
}

function urlOf({ address, family, port }: AddressInfo): string {
	const host =
		address === '0.0.0.0' || address === '::' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address
	return `http://${host}:${port}`
}
