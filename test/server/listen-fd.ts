/** A program that serves on descriptor 3, and prints where it can be reached, or why it can't; it ends with its input. Run by listen-at.test.ts. */
import { createServer, RestHandler } from '../../lib/index.ts'

class Site extends RestHandler {
	get_ip() {
		return this.request.ip
	}
}

const trusted = process.argv.slice(2)
const server = createServer({ '': Site }, trusted.length > 0 ? { trustProxy: trusted } : {})
console.log(JSON.stringify(await server.listen({ fd: 3 }).catch(String)))
// Closed by the test, or by its end, however that comes.
process.stdin
	.on('end', () => process.exit())
	.on('error', () => process.exit())
	.resume()
