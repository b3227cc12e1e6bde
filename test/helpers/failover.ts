/** For tests of failovers of MariaDB: what is in front of the servers, and a handler over a table of theirs. */

import { once } from 'node:events'
import { type Server as Balancer, connect, createServer as createBalancer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import type { MysqlModel } from '../../lib/adapters/mysql.ts'
import { CrudHandler, createServer } from '../../lib/index.ts'
import { Log } from './listening.ts'
import { alarm } from './stalls.ts'

/** The connections of each pool. */
export const MAX = 4

/** In front of servers: new connections lead to the one that is set. */
export async function balancerTo(
	port: number,
): Promise<{ port: number; to: (port: number) => void; close: () => Promise<unknown> }> {
	let target = port
	const sockets = new Set<Socket>()
	const balancer: Balancer = createBalancer((socket) => {
		const upstream = connect(target, '127.0.0.1')
		for (const one of [socket, upstream]) {
			sockets.add(one)
			one
				.on('error', () => {})
				.on('close', () => {
					sockets.delete(one)
					socket.destroy()
					upstream.destroy()
				})
		}
		socket.pipe(upstream).pipe(socket)
	})
	balancer.listen(0, '127.0.0.1')
	await once(balancer, 'listening')
	const address = balancer.address()
	return {
		port: typeof address === 'object' && address !== null ? address.port : 0,
		to: (next) => {
			target = next
		},
		close: () => {
			for (const socket of sockets) socket.destroy()
			return new Promise((resolve) => balancer.close(resolve))
		},
	}
}

export function serving(model: MysqlModel) {
	const article = new CrudHandler(model, {
		visible: 'all',
		updatable: ['title'],
		allow: ['list', 'read', 'create', 'update'],
	})
	const reading = new CrudHandler(model, { visible: 'all' })
	const options = { logger: new Log(), logRequests: false, health: { path: 'health' } }
	const server = createServer({ article }, options)
	// What a server has found out holds for a while.
	const readyOf = async (handler: CrudHandler) =>
		(await createServer({ article: handler }, options).inject({ url: '/health/ready' })).status
	const headers = { 'content-type': 'application/json' }
	return {
		post: (title = 'x') =>
			server.inject({ method: 'POST', url: '/article', headers, body: JSON.stringify({ title }) }),
		patch: (id: string, title: string) =>
			server.inject({ method: 'PATCH', url: `/article/${id}`, headers, body: JSON.stringify({ title }) }),
		get: async () => (await server.inject({ url: '/article?limit=1' })).status,
		ready: () => readyOf(article),
		readerReady: () => readyOf(reading),
	}
}

/** All connections of the pool are made, and idle. */
export async function filled(model: MysqlModel): Promise<void> {
	await Promise.all(Array.from({ length: MAX * 2 }, () => model.count(undefined)))
}

/** Waits until there is service again. @throws Error when there is none within `time` milliseconds */
export async function backWithin(time: number, isBack: () => Promise<boolean>): Promise<void> {
	let isLate = false
	const callOff = alarm(time, () => {
		isLate = true
	})
	try {
		while (!(await isBack())) {
			assert.not(isLate, `there is no service after ${time} ms`)
			await setTimeout(20)
		}
	} finally {
		callOff()
	}
}
