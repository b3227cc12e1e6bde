/** A server whose answers are long texts, for `slow-reader.test.ts`: sends its port. */
import { createServer, RestHandler } from '../../lib/index.ts'

class Site extends RestHandler {
	get_text() {
		return { text: 'a'.repeat(8_000_000) }
	}
}

const { port } = await createServer({ '': Site }, { maxUnsentBytes: 200_000_000 }).listen(0)
process.send?.(port)
