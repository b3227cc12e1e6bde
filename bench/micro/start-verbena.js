/** Imports verbena, listens with one handler, and reports that. */
import { createServer, RestHandler } from '../results/dist/index.js'

class Hello extends RestHandler {
	get_hello() {
		return 'hello'
	}
}

await createServer({ api: new Hello() }).listen(0, '127.0.0.1')
process.stdout.write('listening')
