/**
 * A program that serves on descriptor 3, and prints its URL, or its error; it exits at the end of its input. Run by
 * listen.test.ts.
 */
import { createServer, RestHandler } from '../../lib/index.ts'

class Site extends RestHandler {
	get_ip() {
		return this.request.ip
	}
}

const trusted = process.argv.slice(2)
const server = createServer({ '': Site }, trusted.length > 0 ? { trustProxy: trusted } : {})
console.log(JSON.stringify(await server.listen({ fd: 3 }).catch(String)))
// Closed by the test, or when the test exits.
process.stdin
	.on('end', () => process.exit())
	.on('error', () => process.exit())
	.resume()
