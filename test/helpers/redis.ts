/** The existing Redis server for tests, and whether it is running. */
import { once } from 'node:events'
import { connect } from 'node:net'

/** The existing server: the one `REDIS_PORT` names, else the local one. */
export const REDIS_PORT: number = Number(process.env.REDIS_PORT ?? 6379)

/** Whether it can be reached. If not, a message is printed and its tests are skipped; with `CI=true` it is a failure. */
export async function redisIsHere(): Promise<boolean> {
	const socket = connect(REDIS_PORT, '127.0.0.1')
	try {
		await once(socket, 'connect')
		return true
	} catch (error) {
		if (process.env.CI === 'true') throw error
		console.error(`SKIPPED: there is no Redis at 127.0.0.1:${REDIS_PORT}: ${String(error)}`)
		return false
	} finally {
		socket.destroy()
	}
}
