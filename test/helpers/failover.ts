/** For tests of failovers: a proxy in front of the servers, a handler over one of their tables, and writes through it. */

import { once } from 'node:events'
import { type Server as Balancer, connect, createServer as createBalancer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CrudHandler, createServer, type Model } from '../../lib/index.ts'
import { Log } from './listening.ts'
import { alarm, inTimesOf } from './stalls.ts'

/** The connections of each pool. */
export const MAX = 4

/** A proxy in front of servers: new connections lead to the selected one. */
export async function balancerTo(
	port: number,
	host = '127.0.0.1',
): Promise<{ port: number; to: (port: number, host?: string) => void; close: () => Promise<unknown> }> {
	let target = { port, host }
	const sockets = new Set<Socket>()
	const balancer: Balancer = createBalancer((socket) => {
		const upstream = connect(target)
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
		to: (next, host = '127.0.0.1') => {
			target = { port: next, host }
		},
		close: () => {
			for (const socket of sockets) socket.destroy()
			return new Promise((resolve) => balancer.close(resolve))
		},
	}
}

export type Served = ReturnType<typeof serving>

export function serving(model: Model) {
	const article = new CrudHandler(model, {
		visible: 'all',
		updatable: ['title'],
		allow: ['list', 'read', 'create', 'update'],
	})
	const reading = new CrudHandler(model, { visible: 'all' })
	const options = { logger: new Log(), logRequests: false, health: { path: 'health' } }
	const server = createServer({ article }, options)
	// The result of a server's health check is reused for a while.
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

/** Creates records until `isOver`, and stores the response of each in `answers` by its title, which starts with `name`. */
export async function writing(
	{ post }: Pick<Served, 'post'>,
	answers: Map<string, string>,
	isOver: () => boolean,
	name = '',
): Promise<void> {
	await Promise.all(
		Array.from({ length: MAX }, async (_, writer) => {
			for (let count = 0; !isOver(); count++) {
				const title = `${name}${writer}-${count}`
				const { status, text, headers } = await post(title)
				const told = status === 503 ? `${headers['retry-after'] === undefined ? 'when?' : ''}` : ''
				answers.set(title, status === 201 ? '201' : `${status} ${JSON.parse(text()).code}${told}`)
				await setTimeout(5)
			}
		}),
	)
}

/** Checks that a write answered 503 `unavailable` was not done, and one answered 201 was done once. */
export function sameAs(answers: ReadonlyMap<string, string>, counts: ReadonlyMap<unknown, number>): void {
	for (const [title, answer] of answers) {
		const count = counts.get(title) ?? 0
		if (answer === '201') assert.is(count, 1, title)
		else if (answer === '503 unavailable') assert.is(count, 0, title)
		else {
			assert.is(answer, '503 outcome_unknown')
			assert.ok(count <= 1, title)
		}
	}
}

/** Opens all connections of the pool, and leaves them idle. */
export async function filled(model: Model): Promise<void> {
	await Promise.all(Array.from({ length: MAX * 2 }, () => model.count(undefined)))
}

/**
 * Waits until requests succeed again.
 *
 * @throws Error when none does within `time` milliseconds, or a multiple of them where this machine is slow
 */
export function backWithin(time: number, isBack: () => Promise<boolean>): Promise<void> {
	return inTimesOf(time, async (limit) => {
		let isLate = false
		const callOff = alarm(limit, () => {
			isLate = true
		})
		try {
			while (!(await isBack())) {
				assert.not(isLate, `there is no service after ${limit} ms`)
				await setTimeout(20)
			}
		} finally {
			callOff()
		}
	})
}
