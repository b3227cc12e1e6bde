/**
 * A TCP proxy in front of a real server: it passes bytes while open, drops them while silent, and refuses connections
 * while shut.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePorts } from './program.ts'

export interface Gate {
	readonly port: number
	/** Ends all connections, and refuses others. */
	shut(): Promise<void>
	/** Keeps connections, of which nothing is heard any more. */
	silence(): void
	/** Connections that come from now on are to another port; those that are there stay where they are. */
	leadTo(target: number): void
	/** How many connections have come. */
	count(): number
	/** Lets all pass again. */
	open(): Promise<void>
	close(): Promise<void>
}

/** A gate to a port of this machine, on one of its own; it is open. */
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
	// None that the system gives to connections: while the gate is shut, somebody's request could have it.
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
			// What was said into the silence is lost: whoever waits for it begins anew.
			for (const socket of sockets) socket.destroy()
			if (!server.listening) await listen(port)
		},
		close: shut,
	}
}
