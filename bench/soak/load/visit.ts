/** A visit: a few requests of one caller, each of whose responses is checked. The kinds of visits are in `kinds/`. */
import type { Random } from '../../random.ts'
import type { Member } from '../member.ts'
import type { Answer, Ask, Connections } from './ask.ts'
import type { Findings } from './findings.ts'
import type { Latencies } from './latencies.ts'
import type { Ledger } from './ledger.ts'
import { type Wanted, wrongWith } from './wanted.ts'

/** What all visits share. */
export interface Load {
	readonly connections: Connections
	readonly findings: Findings
	readonly latencies: Latencies
	readonly ledger: Ledger
	/** Base64. */
	readonly secret: string
}

/** A kind of visit. */
export interface Kind {
	readonly name: string
	/** How often it is drawn, compared with the others. */
	readonly weight: number
	/** Its approximate number of requests, from which the time until the next visit is computed. */
	readonly requests: number
	visit(visit: Visit): Promise<void>
}

/** Ends a visit: after a wrong answer, the expected state is unknown. */
export class WrongAnswer extends Error {}

/** One in this many requests is sent on a new connection. */
const FRESH = 8

export class Visit {
	readonly kind: string
	/** Its number among all visits. */
	readonly number: number
	readonly load: Load
	readonly random: Random
	/** The two servers in random order: what one has done, the other must know. */
	readonly here: Member
	readonly there: Member
	#due: number | undefined

	constructor(
		kind: string,
		number: number,
		load: Load,
		random: Random,
		members: readonly [Member, Member],
		due: number,
	) {
		this.kind = kind
		this.number = number
		this.load = load
		this.random = random
		const [one, other] = members
		const isTurned = random(2) === 1
		this.here = isTurned ? other : one
		this.there = isTurned ? one : other
		this.#due = due
	}

	/** A text that is unique to this visit. */
	get name(): string {
		return `${this.kind}-${this.number}`
	}

	/** Sends a request, and checks its response. @throws WrongAnswer */
	async expect(server: Member, ask: Ask, wanted: Wanted): Promise<Answer> {
		const answer = await this.ask(server, ask)
		this.check(server, ask, answer, wanted)
		return answer
	}

	/** Sends a request; the caller checks the response. @throws WrongAnswer if there is none */
	async ask(server: Member, ask: Ask): Promise<Answer> {
		const { connections, findings, latencies } = this.load
		// The first request is timed from when it was due, so that a delay of the load counts.
		const begun = this.#due ?? performance.now()
		this.#due = undefined
		findings.sent()
		try {
			const answer = await connections.ask(server.port, ask, this.random(FRESH) === 0)
			latencies.record(performance.now() - begun)
			return answer
		} catch (error) {
			const got = error instanceof Error ? error : String(error)
			return this.fail({ server, problems: ['no answer'], ask, got })
		}
	}

	/** Compares a response with the expected one. @throws WrongAnswer */
	check(server: Member, ask: Ask, answer: Answer, wanted: Wanted): void {
		this.load.findings.checked(this.kind)
		const problems = wrongWith(answer, wanted)
		if (problems.length > 0) this.fail({ server, problems, ask, wanted, got: answer })
	}

	/** Checks something other than a single response. @throws WrongAnswer unless it holds */
	hold(holds: boolean, problem: string, got: Answer | string = ''): void {
		this.load.findings.checked(this.kind)
		if (!holds) this.fail({ server: this.here, problems: [problem], got })
	}

	/** @throws WrongAnswer always */
	fail(problem: {
		server: Member
		problems: string[]
		ask?: Ask
		wanted?: Wanted
		got: Answer | Error | string
	}): never {
		this.load.findings.add({ ...problem, kind: this.kind, server: problem.server.name })
		throw new WrongAnswer(problem.problems.join('; '))
	}
}
