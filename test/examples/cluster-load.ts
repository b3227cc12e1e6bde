/**
 * A load on `examples/18-cluster`, in a process of its own: `cluster-load.ts <port> <token> <lanes>`. Half of its lanes
 * keep their connections, the others connect for each request. Tells its parent when each lane was served. When it is told
 * of processes it goes on until each of them has answered, and then tells `Findings`.
 */
import { Agent, type RequestOptions, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a load has seen. */
export interface Findings {
	/** Requests that were answered as they should be. */
	readonly answers: number
	/** Comments that were answered as created. */
	readonly created: number
	/** The processes that have answered. */
	readonly workers: readonly number[]
	/** Every other end of a request, in words. */
	readonly failures: readonly string[]
	/** Requests that say nothing: sent into what was closed while this process was held up with an idle connection. */
	readonly excused: number
}

/** Between two requests of a lane, so that those who start have a core, too. In ms. */
const PAUSE = 25
/** A request that isn't answered within that is lost. In ms. */
const LOST = 30_000
/** A server may close a connection that has been idle for longer, of which this process was held up for most. In ms. */
const HELD_UP = 100
/** So long it goes on for processes that don't answer. In ms. */
const PATIENCE = 60_000

async function load(port: number, token: string, lanes: number): Promise<void> {
	const failures: string[] = []
	const workers = new Set<number>()
	const lane = new Array<number>(lanes).fill(0)
	let [answers, created, excused, isServed] = [0, 0, 0, false]
	const stalls = watchStalls()
	let awaited: readonly number[] | undefined
	let end = Number.POSITIVE_INFINITY
	process.on('message', (pids: number[]) => {
		awaited = pids
		end = performance.now() + PATIENCE
	})
	const isOver = () => awaited?.every((pid) => workers.has(pid)) === true || performance.now() > end
	// Whoever has started it has failed.
	process.on('disconnect', () => process.exit())

	async function run(at: number): Promise<void> {
		const agent = at % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false
		for (let step = 0; !isOver(); step++) {
			const one = REQUESTS[step % REQUESTS.length] ?? comment
			const { path, body, holds } = one(at, step)
			const headers = {
				Authorization: `Bearer ${token}`,
				...(body && { 'Content-Type': 'application/json' }),
			}
			const idle = performance.now() - PAUSE - HELD_UP
			const options = { port, path, headers, agent, method: body === undefined ? 'GET' : 'POST' }
			try {
				const data = await ask(options, body)
				if (!holds(data)) throw new Error(JSON.stringify(data))
				answers++
				if (body !== undefined) created++
				if (typeof data.pid === 'number') workers.add(data.pid)
				lane[at] = step + 1
			} catch (error) {
				// A connection that nobody sends on is closed at the end of a worker, which a client that is awake sees.
				if (isClosed(error) && stalls.last() > idle) excused++
				else failures.push(`${options.method} ${path}, lane ${at}, step ${step}: ${String(error)}`)
			}
			if (!isServed && lane.every((count) => count > 0)) {
				isServed = true
				process.send?.('served')
			}
			await sleep(PAUSE)
		}
		if (agent !== false) agent.destroy()
	}

	await Promise.all(lane.map((_, at) => run(at)))
	const findings: Findings = { answers, created, workers: [...workers], failures, excused }
	process.send?.(findings, () => process.exit())
}

/** Notes when this process was held up last. */
function watchStalls(): { last(): number } {
	let [last, seen] = [Number.NEGATIVE_INFINITY, performance.now()]
	setInterval(() => {
		const now = performance.now()
		if (now - seen > HELD_UP) last = now
		seen = now
	}, 10).unref()
	return { last: () => last }
}

/** Whether a request has met the end of its connection, with no byte of an answer. */
function isClosed(error: unknown): boolean {
	return /ECONNRESET|EPIPE|socket hang up/.test(String(error))
}

type Data = Readonly<Record<string, unknown>>

interface Asked {
	readonly path: string
	/** For a POST. */
	readonly body?: string
	/** Whether it is what was asked for. */
	holds(data: Data): boolean
}

function record(table: string, count: number): (at: number, step: number) => Asked {
	return (at, step) => {
		const id = 1 + ((at * 31 + step) % count)
		return { path: `/blog/api/${table}/${id}`, holds: (data) => data.id === id }
	}
}

/** What it says is of one lane and step alone: comments can be counted by it. */
function comment(at: number, step: number): Asked {
	const text = `load ${at} ${step}`
	const body = JSON.stringify({ articleId: 1, text })
	return { path: '/blog/api/comments', body, holds: (data) => data.text === text && data.name === 'ruth' }
}

function office(): Asked {
	return { path: '/blog/api/office/worker', holds: (data) => Number(data.pid) > 0 }
}

const REQUESTS = [office, record('articles', 234), comment, record('authors', 24)]

/** @throws Error for whatever isn't an answer with data */
function ask(options: RequestOptions, body?: string): Promise<Data> {
	return new Promise((resolve, reject) => {
		const asked = request(options, async (response) => {
			try {
				const answer = await json(response)
				const { data } = answer as { data?: Data } // by the envelope; what isn't so has none
				const isGood = response.statusCode === (body === undefined ? 200 : 201)
				if (isGood && data !== undefined) resolve(data)
				else throw new Error(`${response.statusCode} ${JSON.stringify(answer)}`)
			} catch (error) {
				reject(error)
			}
		})
		asked.on('error', (error) =>
			reject(asked.reusedSocket ? new Error(`${error}, connection used before`) : error),
		)
		asked.setTimeout(LOST, () => asked.destroy(new Error('no answer')))
		asked.end(body)
	})
}

if (process.argv[1] === import.meta.filename) {
	const [, , port, token, lanes] = process.argv
	await load(Number(port), String(token), Number(lanes))
}
