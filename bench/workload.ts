/** `Workload`: requests, and the peers that answer them. */
import type { DatabaseName } from './crud/databases.ts'
import type { Peer } from './peers.ts'

/** One kind of request, asked of every peer. */
export interface Workload {
	readonly name: string
	/** Status that every response must have. */
	readonly status: number
	/** The reference first. */
	readonly peers: readonly Peer[]
	/** Whether the reference validates nothing, so that invalid requests aren't sent to it. */
	readonly lenient: boolean
	/** The database, whose CPU time is shown beside the server's. */
	readonly database?: DatabaseName
	/** Overrides the number of the command line. */
	readonly connections?: number
	/** Removes what may differ between equal responses; absent if nothing may. */
	readonly comparable?: (answer: string) => string
	/**
	 * Called when it is the workload's turn, so that ten thousand routes are not in memory, and tables not filled, before they
	 * are needed.
	 */
	prepare(): Promise<Prepared>
}

/** A workload's app, and the requests drawn for it. */
export interface Prepared {
	/** Sent to every server before it starts. */
	readonly app: object
	/** Each is measured separately, in turns with the others. */
	readonly series: readonly Series[]
	/** Invalid requests, which all but a lenient reference must refuse; empty for workloads without validation. */
	readonly refused: readonly Buffer[]
}

/** Requests of one kind. */
export interface Series {
	/** Follows the peer's name in the table; empty for a workload's only series. */
	readonly name: string
	/** The requests for the server at a port: the same number for each, and the n-th responses of all must be equal. */
	requests(port: number): readonly Buffer[] | Promise<readonly Buffer[]>
}
