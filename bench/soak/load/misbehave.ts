/** Misbehaving clients: they send or read slowly in small pieces, or leave in the middle. Each uses its own connection. */
import { type ClientRequest, type IncomingMessage, request as open } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Ask, bodyOf, PATIENCE_MS } from './ask.ts'

/** Milliseconds between two pieces. */
const PAUSE_MS = 30
const PIECES = 6

/** Sends the body in pieces with pauses between, and reads the response in the same way. */
export async function dawdle(port: number, ask: Ask): Promise<Answer> {
	const body = Buffer.from(bodyOf(ask) ?? '')
	const request = start(port, ask, body.length)
	const answered = responseOf(request)
	const size = Math.max(1, Math.ceil(body.length / PIECES))
	for (let at = 0; at < body.length; at += size) {
		request.write(body.subarray(at, at + size))
		await sleep(PAUSE_MS)
	}
	request.end()
	const response = await answered
	const chunks: Buffer[] = []
	for await (const chunk of response) {
		chunks.push(chunk as Buffer) // no encoding is set
		if (chunks.length < PIECES) await sleep(PAUSE_MS)
	}
	const { statusCode: status = 0, headers } = response
	return { status, headers, body: Buffer.concat(chunks) }
}

/** Leaves when `bytes` bytes of the response have arrived; returns what it has received. */
export async function leaveAnswer(port: number, ask: Ask, bytes: number): Promise<Answer> {
	const request = start(port, ask, 0)
	request.end()
	const response = await responseOf(request)
	const chunks: Buffer[] = []
	for await (const chunk of response) {
		chunks.push(chunk as Buffer) // no encoding is set
		if (chunks.reduce((sum, { length }) => sum + length, 0) >= bytes) break
	}
	request.destroy()
	const { statusCode: status = 0, headers } = response
	return { status, headers, body: Buffer.concat(chunks) }
}

/** Announces the length of its body, sends half of it, and leaves. */
export async function leaveUpload(port: number, ask: Ask): Promise<void> {
	const body = Buffer.from(bodyOf(ask) ?? '')
	const request = start(port, ask, body.length)
	request.on('error', () => {})
	await new Promise((resolve) => request.write(body.subarray(0, body.length / 2), resolve))
	await sleep(PAUSE_MS)
	request.destroy()
}

function start(port: number, { method, path, headers }: Ask, length: number): ClientRequest {
	const all = { ...headers, ...(length > 0 ? { 'Content-Length': length } : {}) }
	const signal = AbortSignal.timeout(PATIENCE_MS)
	return open({ host: '127.0.0.1', port, method, path, headers: all, agent: false, signal })
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		request.on('response', resolve)
		request.on('error', reject)
	})
}
