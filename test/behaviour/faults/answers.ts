/** Requests over HTTP whose responses are recorded, with checks that every response of a failing server must pass. */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { alarm, stopwatch } from '../../helpers/stalls.ts'

/** A response, and how long it took, stalls of this process excluded. */
export interface Answer {
	readonly status: number
	readonly headers: Headers
	readonly text: string
	readonly milliseconds: number
	/** The decoded body: all our bodies are objects. */
	readonly body: {
		readonly success?: boolean
		readonly data?: unknown
		readonly error?: string
		readonly code?: string
		readonly details?: readonly { readonly field: string; readonly code: string }[]
	}
}

/** `ask(url, 'POST', { title: 'x' })` */
export async function ask(url: string, method = 'GET', value?: unknown): Promise<Answer> {
	const took = stopwatch()
	const init = { method, signal: AbortSignal.timeout(120_000) }
	const response = await fetch(
		url,
		value === undefined
			? init
			: { ...init, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) },
	)
	const text = await response.text()
	const { status, headers } = response
	return { status, headers, text, milliseconds: took(), body: JSON.parse(text) }
}

/** Words that would reveal the database, and `hidden_`, the prefix of our hidden columns. */
const TELLING = new RegExp(
	[
		'sql|postgres|maria|innodb|\\bpg\\b|driver|database|\\btable|column|relation\\b|constraint|schema|transaction',
		'select |insert |update |delete from|returning|privilege|permission|denied|readonly|read-only|disk',
		'E[A-Z]{4,}REFUSED|ECONN|ETIMEDOUT|127\\.0\\.0\\.1|:5432|:3306|/tmp|node_modules|\\.ts:|hidden_|faults_',
	].join('|'),
	'i',
)

/** Fails if a response reveals the database. */
export function assertTellsNothing({ text, headers }: Answer): void {
	const head = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
	assert.not.match(text, TELLING)
	assert.not.match(head, TELLING)
}

/** Fails unless a response is a proper 503 with one of the codes. */
export function assertUnavailable(answer: Answer, code: RegExp = /^(?:unavailable|outcome_unknown)$/): void {
	const { status, headers, body, text } = answer
	assert.is(status, 503, text)
	assert.match(headers.get('retry-after') ?? '', /^\d+$/)
	assert.is(body.success, false)
	assert.match(body.code ?? '', code, text)
	assertTellsNothing(answer)
}

/** Repeats a request until it is answered 200; fails after `most` milliseconds without stalls, and returns the attempts. */
export async function untilServed(url: string, most: number): Promise<number> {
	let isLate = false
	const took = stopwatch()
	const callOff = alarm(most, () => {
		isLate = true
	})
	try {
		while ((await ask(url)).status !== 200) {
			assert.not(isLate, `there is no service after ${most} ms`)
			await setTimeout(20)
		}
		return took()
	} finally {
		callOff()
	}
}

/** Runs `use`, and fails on unhandled rejections. */
export async function withoutUnhandled(use: () => Promise<void>): Promise<void> {
	const unhandled: unknown[] = []
	const note = (reason: unknown) => void unhandled.push(reason)
	process.on('unhandledRejection', note)
	try {
		await use()
		await setTimeout(20)
	} finally {
		process.off('unhandledRejection', note)
	}
	assert.equal(unhandled.map(String), [])
}
