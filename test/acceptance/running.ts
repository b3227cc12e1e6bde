/** The example app of the cases, as a separate program. */
import { bundled } from '../helpers/bundled.ts'
import { ROOT, type Running, start, untilPrinted } from '../helpers/program.ts'
import type { Store } from './articles.ts'

/** Starts the app, runs `use`, and ends the app whatever became of it. */
export async function withApp(
	store: Store,
	use: (port: number, app: Running) => Promise<void>,
): Promise<void> {
	const args = await bundled(`${ROOT}/test/acceptance/app.ts`, '--port', '0', '--store', store)
	const app = start({ args })
	try {
		await untilPrinted(app, 'listening ')
		await use(Number(/listening (\d+)/.exec(app.output())?.[1]), app)
	} finally {
		app.child.kill('SIGTERM')
		await app.ended
	}
}
