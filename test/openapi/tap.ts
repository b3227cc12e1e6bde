/** Compares each response of a server with the server's own description. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from '../../lib/index.ts'
import { Description, type Document, type Traffic } from './described.ts'

/** What was seen. */
export interface Watched {
	/** The answers of operations that are described. */
	answers(): readonly Answer[]
	/** What wasn't as it is described. */
	problems(): readonly string[]
}

export interface Answer {
	readonly operationId: string
	readonly traffic: Traffic
}

/** Watches from now on. `told` is called with each problem at once; `base` is the server's. */
export async function watch(
	server: Server,
	{ base = '', told }: { readonly base?: string; readonly told?: (problem: string) => void } = {},
): Promise<Watched> {
	const description = new Description(await documentOf(server, base))
	const problems: string[] = []
	const answers: Answer[] = []
	const look = (request: IncomingMessage, response: ServerResponse): void => {
		const asked: Buffer[] = []
		const said: Buffer[] = []
		record(request, asked)
		recordAnswer(response, said)
		response.on('finish', () => {
			const { method = '', url: target = '', headers: requestHeaders } = request
			const type = response.getHeader('content-type')
			const traffic: Traffic = {
				...{ method, target, requestHeaders, status: response.statusCode },
				requestBody: Buffer.concat(asked).toString(),
				type: typeof type === 'string' ? type : sentType(response),
				body: Buffer.concat(said).toString(),
			}
			const operationId = description.operationOf(traffic)?.operationId
			if (operationId !== undefined) answers.push({ operationId, traffic })
			const found = description.problems(traffic)
			for (const problem of found) told?.(problem)
			problems.push(...found)
		})
	}
	server.server.prependListener('request', look).prependListener('checkContinue', look)
	return { answers: () => answers, problems: () => problems }
}

/** What a server says of itself. */
export async function documentOf(server: Server, base = ''): Promise<Document> {
	const reply = await server.inject({ method: 'GET', url: `${base}/openapi.json` })
	return JSON.parse(reply.text()) as Document // tests look at all of it
}

/** Listening for `data` would set the stream flowing before its reader is there. */
function record(request: IncomingMessage, chunks: Buffer[]): void {
	const push = request.push.bind(request)
	request.push = (chunk: unknown, encoding?: BufferEncoding) => {
		if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
		return push(chunk, encoding)
	}
}

function recordAnswer(response: ServerResponse, chunks: Buffer[]): void {
	for (const name of ['write', 'end'] as const) {
		const send = response[name]
		Object.defineProperty(response, name, {
			value(this: ServerResponse, chunk: unknown, ...more: unknown[]) {
				if (typeof chunk === 'string')
					chunks.push(Buffer.from(chunk, more[0] === 'latin1' ? 'latin1' : 'utf8'))
				else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
				return Reflect.apply(send, this, [chunk, ...more])
			},
		})
	}
}

/** Headers given to `writeHead` as a list aren't kept by node, but for the text that it has sent. */
function sentType(response: ServerResponse): string | undefined {
	const head: unknown = Reflect.get(response, '_header')
	return typeof head === 'string' ? /^content-type: *(.*?)\r?$/im.exec(head)?.[1] : undefined
}
