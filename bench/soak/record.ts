/** All measurements of a run, for the verdict and the plot. */
import type { Finding } from './load/findings.ts'
import type { Latency } from './load/latencies.ts'
import type { Balance } from './load/ledger.ts'
import type { Exit } from './member.ts'
import type { Closed, Sample } from './reports.ts'

/** One sample of both servers and the load. */
export interface Moment {
	/** Seconds since the load began. */
	readonly at: number
	/** Requests per second since the previous moment. */
	readonly rate: number
	readonly latency: Latency
	/** One sample per server, in their order. */
	readonly servers: readonly Sample[]
}

/** A pause of the load without pending requests, in which only retained memory is in use. */
export interface Rest {
	/** Seconds since the load began. */
	readonly at: number
	/** Bytes of each server's objects, counted by `census`. */
	readonly objects: readonly number[]
}

/** How a server ended. */
export interface Ending {
	readonly name: string
	/** `undefined` if it sent no report. */
	readonly closed: Closed | undefined
	readonly exit: Exit
}

/** A run, from the first request to the last process. */
export interface Run {
	/** The command, Node's version, and the date. */
	readonly title: string
	readonly seconds: number
	/** The requested rate, in requests per second. */
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
	/** The numbers of payments that were answered, that are in the table, and that are in the table twice. */
	readonly payments: { readonly answered: number; readonly rows: number; readonly twice: number }
	/** The fraction of the machine's CPU time that its host gave to other guests. */
	readonly stolen: number
	/** Requests that were meant to fail with 500: each logs two error lines. */
	readonly crashes: number
}

/** The time before slopes are measured: code is still compiled then, and pools and caches fill. */
export function warmUpOf(seconds: number): number {
	return 0.2 * seconds
}
