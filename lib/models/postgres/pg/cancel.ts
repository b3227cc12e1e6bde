/**
 * `cancel`: cancels the statement that a connection is running, as psql does on Ctrl-C: a new connection sends the
 * secret key of the running one (protocol 3.0, "Canceling Requests in Progress"). Closing the running connection isn't
 * enough: a backend that waits for a lock, or computes, doesn't notice. Used by the drivers of pg and postgres.js.
 */
import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Milliseconds } from '../../../base/time.ts'

const CANCEL_REQUEST = 80_877_102
const SSL_REQUEST = 80_877_103
const TIMEOUT: Milliseconds = 5_000

/** Address and backend key of a connection; nothing is sent for clients that don't have them. */
export interface CancelTarget {
	/** A host name, an address, or the folder of a Unix socket. */
	readonly host?: unknown
	readonly port?: unknown
	readonly processID?: unknown
	readonly secretKey?: unknown
	readonly ssl?: object | boolean | null
}

/** Sends the request; the server closes the connection. If the client did, PgBouncer would ignore it or crash (1.18). */
export function cancel({ host, port, processID, secretKey, ssl }: CancelTarget): void {
	if (typeof host !== 'string' || typeof port !== 'number') return
	if (typeof processID !== 'number' || typeof secretKey !== 'number') return
	const request = int32s(16, CANCEL_REQUEST, processID, secretKey)
	const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
	socket.unref()
	socket.setTimeout(TIMEOUT, () => socket.destroy()).on('error', ignore)
	// Reads the server's FIN, so that the socket is closed.
	socket.resume()
	if (ssl === undefined || ssl === null || ssl === false) {
		socket.on('connect', () => socket.write(request))
		return
	}
	socket.on('connect', () => socket.write(int32s(8, SSL_REQUEST)))
	socket.once('data', (answer) => {
		if (String(answer) !== 'S') socket.destroy()
		else sendSecurely(socket, host, ssl === true ? {} : ssl, request)
	})
}

function sendSecurely(socket: Socket, host: string, options: ConnectionOptions, request: Buffer): void {
	// Loaded lazily, because loading takes some milliseconds.
	const tls = process.getBuiltinModule('node:tls')
	const secure = tls.connect({ servername: isIP(host) === 0 ? host : '', ...options, socket })
	secure.on('error', ignore).on('secureConnect', () => secure.write(request))
	secure.resume()
}

function int32s(...values: readonly number[]): Buffer {
	const bytes = Buffer.alloc(values.length * 4)
	// Drivers have read the key as signed or unsigned; `| 0` makes it signed.
	for (const [at, value] of values.entries()) bytes.writeInt32BE(value | 0, at * 4)
	return bytes
}

function ignore(): void {}
