/** `Workload`: what is asked of the servers, and of which. */
import type { DatabaseName } from './crud/databases.ts'
import type { Peer } from './peers.ts'

/** One kind of request, asked of every peer. */
export interface Workload {
	readonly name: string
	/** Status that every answer must have. */
	readonly status: number
	/** The reference first. */
	readonly peers: readonly Peer[]
	/** Whether the reference validates nothing, so that requests to be refused aren't put to it. */
	readonly lenient: boolean
	/** Where data is, and whose CPU is shown beside the server's. */
	readonly database?: DatabaseName
	/** Instead of the number that the command line asks for. */
	readonly connections?: number
	/** Takes away what may differ between equal answers; absent where nothing may. */
	readonly comparable?: (answer: string) => string
	/**
	 * Made when the workload's turn comes: ten thousand routes are not held by those without, and tables are
	 * not filled.
	 */
	prepare(): Promise<Prepared>
}

/** A workload's app, and the requests drawn for it. */
export interface Prepared {
	/** Sent to every server before it starts. */
	readonly app: object
	/** Each is measured by itself, in turns with the others. */
	readonly series: readonly Series[]
	/** Requests that all but a lenient reference must refuse; only of workloads that validate. */
	readonly refused: readonly Buffer[]
}

/** Requests of one sort. */
export interface Series {
	/** Stands behind the peer's name; empty for a workload's only one. */
	readonly name: string
	/** The requests for the server at a port, as many for each: the n-th must be answered alike by all. */
	requests(port: number): readonly Buffer[] | Promise<readonly Buffer[]>
}
