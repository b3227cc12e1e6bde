/** Refuses to measure servers that don't give the same answers. */
import { connect } from 'node:net'
import type { Milliseconds } from '../lib/time.ts'
import type { Expected } from './connection.ts'
import { REFERENCE } from './peers.ts'
import type { Prepared, Workload } from './workloads.ts'

/** An answer, with what may differ between equal ones taken away. */
interface Answer {
	readonly status: number
	/** Status line, headers in lower case and sorted, without Date; and the body. */
	readonly text: string
	/** Bytes as received. */
	readonly length: number
}

/** How many of a workload's requests are tried on every server. */
const SAMPLES = 25
/** For one answer. Long, because Hono builds its table of routes at the first request. */
const PATIENCE: Milliseconds = 120_000

/**
 * Asks every server the same requests and compares status, headers (order, case and Date aside) and
 * body with the reference's. Answers how long the answers are, which must be the same for all requests.
 *
 * @throws Error that names the peer and shows both answers
 */
export async function verify(
	workload: Workload,
	{ requests, refused }: Prepared,
	ports: ReadonlyMap<string, number>,
): Promise<Map<string, Expected>> {
	const port = ports.get(REFERENCE)
	if (port === undefined) throw new Error(`the reference, ${REFERENCE}, is not running`)
	const step = Math.max(1, Math.floor(requests.length / SAMPLES))
	const lengths = new Map<string, number>()
	for (const request of requests.filter((_, index) => index % step === 0)) {
		const wanted = await ask(port, request)
		if (wanted.status !== workload.status)
			throw differs(workload, REFERENCE, `${workload.status}`, wanted.text)
		for (const [peer, peerPort] of ports) {
			const found = await ask(peerPort, request)
			if (found.text !== wanted.text) throw differs(workload, peer, wanted.text, found.text)
			if ((lengths.get(peer) ?? found.length) !== found.length) {
				throw new Error(
					`${workload.name}: ${peer} gives answers of different lengths, which the load can't count`,
				)
			}
			lengths.set(peer, found.length)
		}
	}
	await verifyRefusals(workload, refused, ports)
	return new Map([...lengths].map(([peer, length]) => [peer, { length, status: workload.status }]))
}

async function verifyRefusals(
	workload: Workload,
	refused: readonly Buffer[],
	ports: ReadonlyMap<string, number>,
): Promise<void> {
	for (const request of refused) {
		for (const [peer, port] of ports) {
			if (peer === REFERENCE) continue
			const { status, text } = await ask(port, request)
			if (status !== 400 && status !== 422) {
				throw differs(workload, peer, `a refusal of ${request.toString().split('\r\n\r\n')[1]}`, text)
			}
		}
	}
}

function differs({ name }: Workload, peer: string, wanted: string, found: string): Error {
	return new Error(
		`${name}: ${peer} doesn't answer as the others do.\n--- expected\n${wanted}\n--- found\n${found}`,
	)
}

/** One request on a connection of its own, left open by the request so that its headers stay the same. */
function ask(port: number, request: Buffer): Promise<Answer> {
	return new Promise((done, fail) => {
		const socket = connect(port, '127.0.0.1', () => socket.write(request))
		let received = Buffer.alloc(0)
		socket.on('error', fail)
		socket.on('close', () => fail(new Error(`port ${port} closed the connection after: ${received}`)))
		socket.setTimeout(PATIENCE, () =>
			socket.destroy(new Error(`no whole answer within 2 minutes: ${received}`)),
		)
		socket.on('data', (chunk) => {
			received = Buffer.concat([received, chunk])
			const answer = parse(received)
			if (answer === undefined) return
			done(answer)
			socket.destroy()
		})
	})
}

/** The answer, or `undefined` while some of it is missing. Answers without Content-Length never end. */
function parse(received: Buffer): Answer | undefined {
	const end = received.indexOf('\r\n\r\n')
	if (end === -1) return undefined
	const [line = '', ...headers] = received.toString('latin1', 0, end).split('\r\n')
	const length = Number(/^content-length: (\d+)$/im.exec(headers.join('\n'))?.[1])
	if (!(received.length >= end + 4 + length)) return undefined
	const normal = headers.map(lowerName).filter((header) => !header.startsWith('date:'))
	const text = [line, ...normal.sort(), '', received.toString('utf8', end + 4)].join('\n')
	return { status: Number(line.split(' ')[1]), text, length: received.length }
}

function lowerName(header: string): string {
	const colon = header.indexOf(':')
	return header.slice(0, colon).toLowerCase() + header.slice(colon)
}
