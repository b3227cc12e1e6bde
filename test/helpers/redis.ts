/** Whether Redis is running on this machine. */
import { once } from 'node:events'
import { connect } from 'node:net'

/** The server that is there: the one `REDIS_PORT` names, else the one of this machine. */
export const REDIS_PORT: number = Number(process.env.REDIS_PORT ?? 6379)

/** Where it isn't, that is said aloud and its tests are left out; with `CI=true` it is a failure. */
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
