/**
 * A TCP proxy in front of a real server: it passes bytes while open, drops them while silent, and refuses connections
 * while shut.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePorts } from './program.ts'

export interface Gate {
	readonly port: number
	/** Ends all connections, and refuses new ones. */
	shut(): Promise<void>
	/** Keeps connections open, and drops all bytes. */
	silence(): void
	/** New connections lead to another port; existing ones stay where they are. */
	leadTo(target: number): void
	/** The number of accepted connections. */
	count(): number
	/** Forwards everything again. */
	open(): Promise<void>
	close(): Promise<void>
}

/** An open gate to a local port, on a port of its own. */
export async function gateTo(first: number): Promise<Gate> {
	let target = first
	let count = 0
	const sockets = new Set<Socket>()
	let isSilent = false
	const server = createServer((near) => {
		count++
		const far = connect(target, '127.0.0.1')
		for (const [socket, other] of [
			[near, far],
			[far, near],
		] as const) {
			sockets.add(socket)
			socket.on('data', (bytes) => isSilent || other.write(bytes))
			socket.on('error', () => {})
			socket.on('close', () => {
				sockets.delete(socket)
				other.destroy()
			})
		}
	})
	const listen = async (port: number) => {
		server.listen(port, '127.0.0.1')
		await once(server, 'listening')
	}
	const shut = async () => {
		for (const socket of sockets) socket.destroy()
		if (!server.listening) return
		server.close()
		await once(server, 'close')
	}
	// Not an ephemeral port: while the gate is shut, an outgoing connection could take it.
	const [port = 0] = await freePorts(1)
	await listen(port)
	return {
		port,
		shut,
		silence: () => {
			isSilent = true
		},
		leadTo: (next) => {
			target = next
		},
		count: () => count,
		open: async () => {
			isSilent = false
			// Bytes sent while it was silent are lost: their connection has to be reopened.
			for (const socket of sockets) socket.destroy()
			if (!server.listening) await listen(port)
		},
		close: shut,
	}
}
