/** Checks that all servers of a workload give the same responses, before they are measured. */
import { connect } from 'node:net'
import type { Milliseconds } from '../lib/base/time.ts'
import type { Expected } from './connection.ts'
import type { Workload } from './workload.ts'

/** A running server, and the requests that it will be measured with. */
export interface Contender {
	readonly peer: string
	readonly port: number
	readonly requests: readonly Buffer[]
}

/** A response in a form to compare, without what may differ. */
interface Answer {
	readonly status: number
	/** Status line, headers in lower case and sorted, without Date; and the body. */
	readonly text: string
	/** The `Content-Length` line up to its digits, as this server writes it. */
	readonly lengthLine: string
	/** Bytes as received. */
	readonly length: number
}

/** The number of requests that are sent to every server for comparison. */
const SAMPLES = 25
/** Timeout of a response. It is long because Hono builds its table of routes at the first request. */
const TIMEOUT: Milliseconds = 120_000

/**
 * Sends the same requests to every server, and compares status, headers (except for order, case and Date) and body with those
 * of the first, the reference. Returns what to expect of each server.
 *
 * @throws Error that names the peer and shows both answers
 */
export async function verify(workload: Workload, contenders: readonly Contender[]): Promise<Expected[]> {
	const seen = contenders.map((): Answer[] => [])
	const count = contenders[0]?.requests.length ?? 0
	const step = Math.max(1, Math.floor(count / SAMPLES))
	for (let index = 0; index < count; index += step) {
		let wanted: string | undefined
		for (const [at, { peer, port, requests }] of contenders.entries()) {
			const answer = await ask(port, requests[index] as Buffer) // all have the same number
			const { status, text } = answer
			if (status !== workload.status) throw differs(workload, peer, `${workload.status}`, text)
			const comparable = workload.comparable?.(text) ?? text
			wanted ??= comparable
			if (comparable !== wanted) throw differs(workload, peer, wanted, comparable)
			seen[at]?.push(answer)
		}
	}
	return seen.map((answers) => ({ status: workload.status, length: lengthOf(answers) }))
}

/** The length of all responses, or their length line if they differ. */
function lengthOf(answers: readonly Answer[]): number | Buffer {
	const [first] = answers
	if (first === undefined) throw new Error('there are no requests')
	return answers.every(({ length }) => length === first.length) ? first.length : Buffer.from(first.lengthLine)
}

/** @throws Error that names a peer which accepts what it should refuse */
export async function verifyRefusals(
	workload: Workload,
	refused: readonly Buffer[],
	ports: ReadonlyMap<string, number>,
): Promise<void> {
	for (const request of refused) {
		for (const [peer, port] of ports) {
			if (workload.lenient && peer === workload.peers[0]?.name) continue
			const { status, text } = await ask(port, request)
			if (status !== 400 && status !== 422) {
				throw differs(workload, peer, `a refusal of ${request.toString().split('\r\n\r\n')[1]}`, text)
			}
		}
	}
}

function differs({ name }: Workload, peer: string, wanted: string, found: string): Error {
	let same = 0
	while (same < wanted.length && wanted[same] === found[same]) same++
	return new Error(
		`${name}: ${peer} doesn't answer as the others do.\n--- expected\n${around(wanted, same)}\n--- found\n${around(found, same)}`,
	)
}

/** The part of a text around a difference, as the response to a list is long. */
function around(text: string, place: number): string {
	const begin = Math.max(0, place - 1_000)
	return `${begin > 0 ? '…' : ''}${text.slice(begin, place + 1_000)}`
}

/** Sends one request on a new connection. It asks for keep-alive, so that the response has the headers that are measured. */
function ask(port: number, request: Buffer): Promise<Answer> {
	return new Promise((done, fail) => {
		const socket = connect(port, '127.0.0.1', () => socket.write(request))
		let received = Buffer.alloc(0)
		socket.on('error', fail)
		socket.on('close', () => fail(new Error(`port ${port} closed the connection after: ${received}`)))
		socket.setTimeout(TIMEOUT, () =>
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

/** The response, or `undefined` while it is incomplete. One without Content-Length never completes. */
function parse(received: Buffer): Answer | undefined {
	const end = received.indexOf('\r\n\r\n')
	if (end === -1) return undefined
	const [line = '', ...headers] = received.toString('latin1', 0, end).split('\r\n')
	const [, lengthLine = '', digits] = /^(content-length: )(\d+)$/im.exec(headers.join('\n')) ?? []
	const length = Number(digits)
	if (!(received.length >= end + 4 + length)) return undefined
	const normal = headers.map(lowerName).filter((header) => !header.startsWith('date:'))
	const text = [line, ...normal.sort(), '', received.toString('utf8', end + 4)].join('\n')
	return { status: Number(line.split(' ')[1]), text, lengthLine, length: received.length }
}

function lowerName(header: string): string {
	const colon = header.indexOf(':')
	return header.slice(0, colon).toLowerCase() + header.slice(colon)
}
