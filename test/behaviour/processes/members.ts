/** Several processes of one service that share a Redis. */
import { once } from 'node:events'
import { forget, openClient, type TestClient } from '../../cache/redis/servers.ts'
import { bundled } from '../../helpers/bundled.ts'
import { ROOT, type Running, start } from '../../helpers/program.ts'
import { REDIS_PORT } from '../../helpers/redis.ts'

export interface Members {
	/** Their addresses. */
	readonly urls: readonly string[]
	/** A client of the same Redis. */
	readonly redis: TestClient
	readonly prefix: string
	/** Their output: logged errors. */
	output(): string
}

/** Starts `count` processes of `member.ts`, and stops them in any case after `use`. */
export async function withMembers(
	count: number,
	use: (members: Members) => Promise<void>,
	port: number = REDIS_PORT,
): Promise<void> {
	const prefix = `verbena-processes-${process.pid}-${Date.now()}:`
	const running: Running[] = []
	const redis = openClient('ioredis', port)
	// The existing Redis stays up, and gets a long timeout on a slow machine; others are killed.
	const seconds = port === REDIS_PORT ? '30' : '1'
	try {
		const args = await bundled(`${ROOT}/test/behaviour/processes/member.ts`, String(port), prefix, seconds)
		for (let member = 0; member < count; member++) running.push(start({ args }))
		const urls = await Promise.all(running.map(urlOf))
		await use({ urls, redis, prefix, output: () => running.map(({ output }) => output()).join('') })
	} finally {
		for (const { child } of running) child.kill('SIGKILL')
		await Promise.all(running.map(({ ended }) => ended))
		await forget(prefix, redis)
		redis.close()
	}
}

async function urlOf({ child, ended, output }: Running): Promise<string> {
	const early = ended.then((code) => {
		throw new Error(`a member ended early with ${code}:\n${output()}`)
	})
	early.catch(() => {})
	const [url] = await Promise.race([once(child, 'message'), early])
	return String(url)
}
