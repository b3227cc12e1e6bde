/** The app on Verbena twice in one process, without and with the option `metrics`. Returns both ports. */
import { start as startVerbena } from './verbena.js'

export async function start(app) {
	return [await startVerbena(app), await startVerbena(app, { metrics: true })]
}
