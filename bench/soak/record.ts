/** All that a run has measured: what the verdict judges, and what is plotted. */
import type { Finding } from './load/findings.ts'
import type { Latency } from './load/latencies.ts'
import type { Balance } from './load/ledger.ts'
import type { Exit } from './member.ts'
import type { Closed, Sample } from './reports.ts'

/** One look at everything. */
export interface Moment {
	/** Seconds since the load began. */
	readonly at: number
	/** Requests since the moment before, a second. */
	readonly rate: number
	readonly latency: Latency
	/** Of each server, in their order. */
	readonly servers: readonly Sample[]
}

/** A pause of the load, in which nothing is under way: what is there then is what stays. */
export interface Rest {
	/** Seconds since the load began. */
	readonly at: number
	/** Bytes of each server's objects, by `census`. */
	readonly objects: readonly number[]
}

/** How a server has ended. */
export interface Ending {
	readonly name: string
	/** `undefined` where it has told nothing. */
	readonly closed: Closed | undefined
	readonly exit: Exit
}

/** A run, from the first request to the last process. */
export interface Run {
	/** How it was started, and by what. */
	readonly title: string
	readonly seconds: number
	/** What was asked for, in requests a second. */
	readonly rate: number
	readonly moments: readonly Moment[]
	readonly rests: readonly Rest[]
	readonly endings: readonly Ending[]
	readonly requests: number
	readonly checks: number
	readonly checksByKind: Readonly<Record<string, number>>
	readonly wrong: number
	readonly findings: readonly Finding[]
	readonly balance: Balance
	/** Payments that were answered, that are in the table, and those of the table that are there twice. */
	readonly payments: { readonly answered: number; readonly rows: number; readonly twice: number }
	/** The part of the machine's time that its host gave to others. */
	readonly stolen: number
	/** Requests that were to fail with 500: each is two error lines. */
	readonly crashes: number
}

/** How long the beginning is that no slope is made of: code is compiled then, and pools and caches fill. */
export function warmUpOf(seconds: number): number {
	return 0.2 * seconds
}
