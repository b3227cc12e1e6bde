/**
 * Cancels what a connection is running, as psql does on Ctrl-C: by a connection of its own, with the key that the
 * server has given this one (protocol 3.0, "Canceling Requests in Progress"). To close the connection isn't enough: a
 * backend that waits for a lock, or computes, doesn't look at it, and goes on beside its successor. Used by the drivers
 * of pg and postgres.js.
 */
import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Milliseconds } from '../../../base/time.ts'

const CANCEL = 80_877_102
const SECURE = 80_877_103
/** Most time for the request. */
const LONGEST: Milliseconds = 5_000

/** Where a connection leads, and what its backend is known by; of clients that don't tell it nothing is sent. */
export interface Cancelled {
	/** A name, an address, or the folder of a Unix socket. */
	readonly host?: unknown
	readonly port?: unknown
	readonly processID?: unknown
	readonly secretKey?: unknown
	readonly ssl?: object | boolean | null
}

/**
 * Sends the request. The server closes the connection when it has dealt with it, and only it: PgBouncer drops a request
 * whose client has left before, or ends altogether (1.18).
 */
export function cancel({ host, port, processID, secretKey, ssl }: Cancelled): void {
	if (typeof host !== 'string' || typeof port !== 'number') return
	if (typeof processID !== 'number' || typeof secretKey !== 'number') return
	const request = words(16, CANCEL, processID, secretKey)
	const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
	socket.unref()
	socket.setTimeout(LONGEST, () => socket.destroy()).on('error', ignore)
	// The server's end is read, and answered by ours.
	socket.resume()
	if (ssl === undefined || ssl === null || ssl === false) {
		socket.on('connect', () => socket.write(request))
		return
	}
	socket.on('connect', () => socket.write(words(8, SECURE)))
	socket.once('data', (answer) => {
		if (String(answer) !== 'S') socket.destroy()
		else sendSecurely(socket, host, ssl === true ? {} : ssl, request)
	})
}

function sendSecurely(socket: Socket, host: string, options: ConnectionOptions, request: Buffer): void {
	// Loaded when it is needed, as it costs every start some milliseconds.
	const tls = process.getBuiltinModule('node:tls')
	const secure = tls.connect({ servername: isIP(host) === 0 ? host : '', ...options, socket })
	secure.on('error', ignore).on('secureConnect', () => secure.write(request))
	secure.resume()
}

function words(...values: readonly number[]): Buffer {
	const bytes = Buffer.alloc(values.length * 4)
	// Drivers read a key with a sign, or without one.
	for (const [at, value] of values.entries()) bytes.writeInt32BE(value | 0, at * 4)
	return bytes
}

function ignore(): void {}
