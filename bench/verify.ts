/** Refuses to measure servers that don't give the same answers. */
import { connect } from 'node:net'
import type { Milliseconds } from '../lib/base/time.ts'
import type { Expected } from './connection.ts'
import type { Workload } from './workload.ts'

/** A server that is up, with the requests that it will be measured by. */
export interface Contender {
	readonly peer: string
	readonly port: number
	readonly requests: readonly Buffer[]
}

/** An answer, with what may differ between equal ones taken away. */
interface Answer {
	readonly status: number
	/** Status line, headers in lower case and sorted, without Date; and the body. */
	readonly text: string
	/** The line that says the body's length, up to its digits, as this server writes it. */
	readonly lengthLine: string
	/** Bytes as received. */
	readonly length: number
}

/** How many of a workload's requests are tried on every server. */
const SAMPLES = 25
/** For one answer. Long, because Hono builds its table of routes at the first request. */
const PATIENCE: Milliseconds = 120_000

/**
 * Asks every server the same requests and compares status, headers (order, case and Date aside) and
 * body with the first's, the reference. Answers, for each, how long its answers are.
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
			const answer = await ask(port, requests[index] as Buffer) // all have as many
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

/** The length of all answers, or how they say it. */
function lengthOf(answers: readonly Answer[]): number | Buffer {
	const [first] = answers
	if (first === undefined) throw new Error('there are no requests')
	return answers.every(({ length }) => length === first.length) ? first.length : Buffer.from(first.lengthLine)
}

/** @throws Error that names a peer that takes what it should refuse */
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

/** Enough of a text to see a difference; a list's answer is long. */
function around(text: string, place: number): string {
	const begin = Math.max(0, place - 1_000)
	return `${begin > 0 ? '…' : ''}${text.slice(begin, place + 1_000)}`
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
