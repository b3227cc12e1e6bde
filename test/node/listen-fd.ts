/** A program that serves on descriptor 3, and prints where it can be reached; it ends with its input. Run by listen-at.test.ts. */
import { createServer, RestHandler } from '../../lib/index.ts'

class Site extends RestHandler {
	get_ip() {
		return this.request.ip
	}
}

console.log(JSON.stringify(await createServer({ '': Site }).listen({ fd: 3 })))
// Closed by the test, or by its end, however that comes.
process.stdin
	.on('end', () => process.exit())
	.on('error', () => process.exit())
	.resume()
