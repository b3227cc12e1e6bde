/**
 * Answers signed or open requests in process, and tells the mean CPU time of one. Each is signed anew, with a nonce
 * of its own, before the time is taken.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, HmacAuthenticator, MemoryCache, RestHandler } from '../results/dist/index.js'

const [, , kind, method] = process.argv
/** So few at a time that they are young when they are used, as requests are. */
const BATCH = 100
const MILLISECONDS = 400
const SECRET = randomBytes(64)
const BODY = JSON.stringify({ title: 'a title', text: 'x'.repeat(160) })
const OPEN = method === 'GET' ? {} : { 'content-type': 'application/json' }

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
	authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { k1: SECRET } })
}

const cache = new MemoryCache({ max: 2_000_000 })
const handler = kind === 'signed' ? new SignedNotes() : new Notes()
const server = createServer({ api: handler }, { cache })

process.once('message', async () => {
	await run()
	process.on('message', async () => process.send({ microseconds: await run() }))
	process.send('ready')
})
process.on('disconnect', () => process.exit())

async function run() {
	let spent = 0
	let count = 0
	while (spent < MILLISECONDS) {
		const requests = Array.from({ length: BATCH }, (_, at) => requestOf(String(at)))
		const start = process.cpuUsage()
		for (const request of requests) {
			const { status } = await server.inject(request)
			if (status !== 200) throw new Error(`${kind} ${method}: answered ${status}`)
		}
		const { user, system } = process.cpuUsage(start)
		spent += (user + system) / 1_000
		count += BATCH
	}
	return (spent / count) * 1_000
}

function requestOf(id) {
	const url = method === 'GET' ? `/api/note/${id}` : '/api/note'
	const headers = { host: 'api.example.com', ...OPEN }
	if (kind === 'signed') sign(headers, url)
	return method === 'GET' ? { method, url, headers } : { method, url, headers, body: BODY }
}

/** By hand, as the server's own way to a signature is part of what is measured. */
function sign(headers, url) {
	const components = { '@method': method, '@authority': headers.host, '@path': url, '@query': '?' }
	if (method !== 'GET') {
		headers['content-digest'] = `sha-256=:${createHash('sha256').update(BODY).digest('base64')}:`
		components['content-type'] = headers['content-type']
		components['content-digest'] = headers['content-digest']
	}
	const names = Object.keys(components).map((name) => `"${name}"`)
	const nonce = randomBytes(16).toString('base64url')
	const created = Math.floor(Date.now() / 1_000)
	const params = `(${names.join(' ')});created=${created};keyid="k1";nonce="${nonce}"`
	const lines = Object.entries(components).map(([name, value]) => `"${name}": ${value}`)
	const base = [...lines, `"@signature-params": ${params}`].join('\n')
	headers['signature-input'] = `sig=${params}`
	headers.signature = `sig=:${createHmac('sha256', SECRET).update(base).digest('base64')}:`
}
