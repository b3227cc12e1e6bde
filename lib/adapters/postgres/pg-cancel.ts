/**
 * Cancels what a connection of pg is running, as psql does on Ctrl-C: by a connection of its own, with the key that
 * the server has given this one (protocol 3.0, "Canceling Requests in Progress"). To close the connection isn't
 * enough: a backend that waits for a lock, or computes, doesn't look at it, and goes on beside its successor.
 */
import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Milliseconds } from '../../time.ts'
import type { PgClient } from './pg-pool.ts'

const CANCEL = 80_877_102
const SECURE = 80_877_103
/** Whoever doesn't take it in that time has other troubles. */
const LONGEST: Milliseconds = 5_000

/** Sends the request; nobody waits for what comes of it. Nothing for clients that don't tell where they lead. */
export function cancel({ host, port, processID, secretKey, ssl }: PgClient): void {
	if (typeof host !== 'string' || typeof port !== 'number') return
	if (typeof processID !== 'number' || typeof secretKey !== 'number') return
	const request = words(16, CANCEL, processID, secretKey)
	const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
	socket.unref()
	socket.setTimeout(LONGEST, () => socket.destroy()).on('error', ignore)
	if (ssl === undefined || ssl === null || ssl === false) {
		socket.on('connect', () => socket.end(request))
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
	secure.on('error', ignore).on('secureConnect', () => secure.end(request))
}

function words(...values: readonly number[]): Buffer {
	const bytes = Buffer.alloc(values.length * 4)
	for (const [at, value] of values.entries()) bytes.writeInt32BE(value, at * 4)
	return bytes
}

function ignore(): void {}
