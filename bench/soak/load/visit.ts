/** A visit: what one caller does, in a few requests, of which each answer is checked. Kinds of it are in `kinds/`. */
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
	/** How often it comes, compared with the others. */
	readonly weight: number
	/** Requests that it makes, about: by these the load keeps its rate. */
	readonly requests: number
	visit(visit: Visit): Promise<void>
}

/** Ends a visit: what comes behind a wrong answer can't be judged. */
export class WrongAnswer extends Error {}

/** One in so many requests is sent over a new connection. */
const FRESH = 8

export class Visit {
	readonly kind: string
	/** Of all visits it is the one with this number. */
	readonly number: number
	readonly load: Load
	readonly random: Random
	/** The servers, in an order that is drawn: what one has done, the other must know. */
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

	/** A text that no other visit has. */
	get name(): string {
		return `${this.kind}-${this.number}`
	}

	/** Asks, and compares. @throws WrongAnswer */
	async expect(server: Member, ask: Ask, wanted: Wanted): Promise<Answer> {
		const answer = await this.ask(server, ask)
		this.check(server, ask, answer, wanted)
		return answer
	}

	/** Asks; what is answered is for the caller to check. @throws WrongAnswer where there is no answer */
	async ask(server: Member, ask: Ask): Promise<Answer> {
		const { connections, findings, latencies } = this.load
		// The first request counts from when it was due: a load that is late must not look fast.
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

	/** Compares an answer with what it must be. @throws WrongAnswer */
	check(server: Member, ask: Ask, answer: Answer, wanted: Wanted): void {
		this.load.findings.checked(this.kind)
		const problems = wrongWith(answer, wanted)
		if (problems.length > 0) this.fail({ server, problems, ask, wanted, got: answer })
	}

	/** Counts as a check of something else than an answer. @throws WrongAnswer unless it holds */
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
