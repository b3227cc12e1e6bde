/** Measures how much more a signed request costs than the same one without authentication. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Child, startChild } from './child.ts'
import type { Pin } from './cores.ts'
import type { Progress } from './measure.ts'
import type { Result, Round } from './results.ts'

const KINDS = ['open', 'signed'] as const
const METHODS = ['GET', 'POST'] as const
type Method = (typeof METHODS)[number]
type Kind = (typeof KINDS)[number]

const SECRET = randomBytes(64)
const BODY = JSON.stringify({ title: 'a title', text: 'x'.repeat(160) })
/** Requests per round. Each is signed with its own nonce, before the round begins. */
const COUNT = 10_000
const CONNECTIONS = 32
const HOST = 'api.example.com'

/** A server's reply to any message. */
interface State {
	readonly port: number
	/** CPU time used so far. */
	readonly microseconds: number
}

interface Case {
	readonly method: Method
	readonly kind: Kind
	readonly child: Child
	readonly found: Round[]
}

/** Returns one result per method. Open and signed requests take turns, each at its own server. */
export async function measureSigned(rounds: number, pin: Pin, progress: Progress): Promise<Result[]> {
	const cases = METHODS.flatMap((method) =>
		KINDS.map((kind): Case => {
			const child = startChild(pin, 'micro/signed.js', [kind, SECRET.toString('base64')])
			return { method, kind, child, found: [] }
		}),
	)
	try {
		for (const one of cases) await measureOnce(one)
		for (let turn = 1; turn <= rounds; turn++) {
			for (const one of cases) {
				const cost = await measureOnce(one)
				one.found.push({ cost })
				progress(`signed: round ${turn} of ${rounds}, ${one.method} ${one.kind}: ${cost.toFixed(1)} µs`)
			}
		}
		return METHODS.map((method) => ({
			...{ workload: `signed-${method.toLowerCase()}`, unit: 'µs', reference: 'verbena open' },
			rounds: new Map(
				cases.filter((one) => one.method === method).map(({ kind, found }) => [`verbena ${kind}`, found]),
			),
			latency: new Map(),
		}))
	} finally {
		await Promise.all(cases.map(({ child }) => child.stop()))
	}
}

/** The server's CPU time for one request, in µs. */
async function measureOnce({ method, kind, child }: Case): Promise<number> {
	const requests = Array.from({ length: COUNT }, (_, at) => requestOf(method, kind, at))
	const { port, microseconds } = await child.ask<State>('state')
	await sendAll(port, requests)
	const after = await child.ask<State>('state')
	return (after.microseconds - microseconds) / COUNT
}

/** Sends all, one after the other on each connection. @throws Error for any answer but 200 */
async function sendAll(port: number, requests: readonly string[]): Promise<void> {
	const waiting = requests.values()
	await Promise.all(
		Array.from({ length: CONNECTIONS }, async () => {
			const socket = connect(port, '127.0.0.1').setEncoding('latin1')
			await once(socket, 'connect')
			for (const request of waiting) await ask(socket, request)
			socket.destroy()
		}),
	)
}

async function ask(socket: Socket, request: string): Promise<void> {
	socket.write(request)
	// Responses are small, and arrive in one piece.
	const [answer] = (await once(socket, 'data')) as [string]
	if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`a request was answered ${answer.slice(0, 200)}`)
}

function requestOf(method: Method, kind: Kind, at: number): string {
	const url = method === 'GET' ? `/api/note/${at}` : '/api/note'
	const body = method === 'GET' ? '' : BODY
	const fields: Record<string, string> = { Host: HOST }
	if (method === 'POST') {
		fields['Content-Type'] = 'application/json'
		fields['Content-Length'] = String(Buffer.byteLength(body))
	}
	if (kind === 'signed') sign(method, url, body, fields)
	const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
	return `${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Signs by RFC 9421 §2.5 without the library, as signing isn't measured. */
function sign(method: Method, url: string, body: string, fields: Record<string, string>): void {
	const components: Record<string, string> = {
		'@method': method,
		'@authority': HOST,
		'@path': url,
		'@query': '?',
	}
	if (method === 'POST') {
		const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
		fields['Content-Digest'] = digest
		Object.assign(components, { 'content-type': 'application/json', 'content-digest': digest })
	}
	const names = Object.keys(components).map((name) => `"${name}"`)
	const nonce = randomBytes(16).toString('base64url')
	const created = Math.floor(Date.now() / 1_000)
	const params = `(${names.join(' ')});created=${created};keyid="k1";nonce="${nonce}"`
	const lines = Object.entries(components).map(([name, value]) => `"${name}": ${value}`)
	const base = [...lines, `"@signature-params": ${params}`].join('\n')
	fields['Signature-Input'] = `sig=${params}`
	fields['Signature'] = `sig=:${createHmac('sha256', SECRET).update(base).digest('base64')}:`
}
