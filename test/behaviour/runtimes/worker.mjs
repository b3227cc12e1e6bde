/** The same as a Worker. workerd has an address of the client in a header where it stands behind Cloudflare alone. */
import { createServer } from 'verbena'
import { handlers } from './handlers.mjs'

const options = { handlerTimeoutSeconds: 1, compression: true, openapi: true, explorer: true }
const server = createServer(handlers(), options)

export default {
	fetch(request) {
		return server.fetch(request, { remoteAddress: request.headers.get('CF-Connecting-IP') ?? '127.0.0.1' })
	},
}
