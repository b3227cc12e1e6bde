/** A server, as it is run by Node, Bun and Deno: it prints its URL, and ends by SIGTERM without losing what it answers. */
import { createServer } from 'verbena'
import { handlers } from './handlers.mjs'

const server = createServer(handlers(), { logger: console, logRequests: false, handlerTimeoutSeconds: 5 })
process.once('SIGTERM', async () => {
	console.log('closing')
	await server.close()
	console.log('closed')
})
const { url } = await server.listen(0)
const response = await server.fetch(new Request('http://localhost/hello/fetch'))
console.log(`${response.status} ${await response.text()}`)
console.log(url)
