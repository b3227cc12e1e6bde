/** Serves requests, with authentication by signature or without, and reports the CPU time it has used. */
import { createServer, HmacAuthenticator, MemoryCache, RestHandler } from '../results/dist/index.js'

const [, , kind, secret] = process.argv

class Notes extends RestHandler {
	get_note(id) {
		return { id }
	}
	post_note() {
		return this.body
	}
}
class SignedNotes extends Notes {
	access = { '*': 'user' }
	authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { k1: secret } })
}

const cache = new MemoryCache({ max: 2_000_000 })
const handler = kind === 'signed' ? new SignedNotes() : new Notes()
const { port } = await createServer({ api: handler }, { cache, hosts: ['api.example.com'] }).listen(
	0,
	'127.0.0.1',
)

process.on('message', () => {
	const { user, system } = process.cpuUsage()
	process.send({ port, microseconds: user + system })
})
process.on('disconnect', () => process.exit())
