/** A plain node:http server for tests of the client: sends the given responses, and records the requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received request. */
export interface Asked {
	/** `GET /blog/article?limit=2` */
	readonly line: string
	readonly headers: IncomingMessage['headers']
	readonly body: string
}

export interface Site {
	readonly origin: string
	/** Oldest first. */
	readonly asked: Asked[]
	/** How requests are answered, until it is set again. */
	answer: (request: IncomingMessage, response: ServerResponse) => void
}

/** Runs `use` against the server, and always closes it. */
export async function answering(use: (site: Site) => Promise<void>): Promise<void> {
	const site = { origin: '', asked: [] as Asked[], answer: json({ success: true, data: null }) }
	const server = createServer(async (request, response) => {
		let body = ''
		for await (const chunk of request.setEncoding('utf8')) body += chunk
		site.asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
		site.answer(request, response)
	})
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
	site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server's
	try {
		await use(site)
	} finally {
		server.closeAllConnections()
		await new Promise((done) => server.close(done))
	}
}

/** Answers JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Site['answer'] {
	return text(JSON.stringify(body), status, { 'Content-Type': 'application/json', ...headers })
}

/** Answers any text. */
export function text(body: string, status = 200, headers: Record<string, string> = {}): Site['answer'] {
	return (_request, response) => {
		response.writeHead(status, headers).end(body)
	}
}
