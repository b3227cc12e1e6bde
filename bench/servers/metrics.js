/** The app on Verbena, with the option `metrics`. */
import { start as startVerbena } from './verbena.js'

export async function start(app) {
	return startVerbena(app, { metrics: true })
}
