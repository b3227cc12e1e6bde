/** The number of checked responses, and the wrong ones, of which the first are kept in full. */
import { type Answer, type Ask, bodyOf } from './ask.ts'
import type { Wanted } from './wanted.ts'

/** The number of wrong answers that are kept. */
const KEPT = 20
/** Characters of a body that are shown. */
const SHOWN = 2_000

/** A wrong answer, as text. */
export interface Finding {
	/** Seconds since the beginning. */
	readonly at: number
	readonly kind: string
	readonly server: string
	readonly problems: readonly string[]
	readonly request: string
	readonly expected: string
	readonly got: string
}

/** A wrong answer, as a visit reports it. */
export interface Problem {
	readonly kind: string
	readonly server: string
	readonly problems: readonly string[]
	readonly ask?: Ask
	readonly wanted?: Wanted
	/** The response, or the error in its place. */
	readonly got: Answer | Error | string
}

export class Findings {
	readonly kept: Finding[] = []
	readonly #begun = performance.now()
	#requests = 0
	#wrong = 0
	/** Checks by kind of visit. */
	readonly kinds = new Map<string, number>()

	/** Requests that were sent. */
	get requests(): number {
		return this.#requests
	}

	get wrong(): number {
		return this.#wrong
	}

	/** Responses and ends of connections that were checked. */
	get checks(): number {
		return [...this.kinds.values()].reduce((sum, count) => sum + count, 0)
	}

	sent(): void {
		this.#requests++
	}

	checked(kind: string): void {
		this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1)
	}

	add({ kind, server, problems, ask, wanted, got }: Problem): void {
		this.#wrong++
		if (this.kept.length >= KEPT) return
		this.kept.push({
			at: Math.round((performance.now() - this.#begun) / 100) / 10,
			...{ kind, server, problems },
			request: ask === undefined ? '' : requestText(ask),
			expected: wanted === undefined ? '' : wantedText(wanted),
			got: answerText(got),
		})
	}
}

function requestText(ask: Ask): string {
	const lines = Object.entries(ask.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
	return [`${ask.method} ${ask.path}`, ...lines, '', bodyText(Buffer.from(bodyOf(ask) ?? ''))]
		.join('\n')
		.trim()
}

/** The expected response as JSON, with functions by their names, and regular expressions by their source. */
function wantedText(wanted: Wanted): string {
	const text = JSON.stringify(wanted, (_name, value: unknown) => {
		if (typeof value === 'function') return `<${value.name}>`
		if (value instanceof RegExp) return String(value)
		return value instanceof Uint8Array ? `<${value.length} bytes>` : value
	})
	return text.slice(0, SHOWN)
}

function answerText(got: Problem['got']): string {
	if (typeof got === 'string') return got
	if (got instanceof Error)
		return `${got.name}: ${got.message} ${String(Reflect.get(got, 'code') ?? '')}`.trim()
	const lines = Object.entries(got.headers).map(([name, value]) => `${name}: ${value}`)
	return [`${got.status}`, ...lines, '', bodyText(got.body)].join('\n').trim()
}

function bodyText(body: Buffer): string {
	const text = body.toString()
	return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${body.length} bytes)` : text
}
