/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import { BARE, CRUD_PEERS, PEERS, type Peer, RELATED_PEERS } from './peers.ts'
import type { Workload } from './workload.ts'
import { SHAPES, WORKLOADS } from './workloads.ts'

/** What to run, and how long. */
export interface Options {
	/** Names of workloads, in the order in which they run. */
	readonly workloads: readonly string[]
	/** Names of peers. */
	readonly peers: ReadonlySet<string>
	/** Measured rounds of each peer. */
	readonly rounds: number
	/** How many times the servers are started, each time for so many rounds. */
	readonly starts: number
	/** Length of a round. */
	readonly seconds: number
	/** Seconds of load on each server before its first round. */
	readonly warmupSeconds: number
	readonly connections: number
	/** File for all figures as JSON. Without it, no file is written. */
	readonly json: string | undefined
	/** Whether to drop the tables of CRUD, and do nothing else. */
	readonly clean: boolean
}

/** Names of all workloads, including those without HTTP. */
export const NAMES: readonly string[] = [
	...WORKLOADS.map(({ name }) => name),
	...SHAPES.map((shape) => `match-${shape}`),
	'signed',
	'startup',
]

const PEER_NAMES: readonly string[] = [
	...new Set([...PEERS, ...CRUD_PEERS, BARE, ...RELATED_PEERS].map(({ name }) => name)),
]

/**
 * Reads the command line.
 *
 *     --only small-get,routes --peers fastify,hono --rounds 5 --seconds 2 --json figures.json
 *
 * @throws RangeError for an unknown workload or peer, with a list of those that exist, and for a number that is too small
 */
export function parseOptions(words: readonly string[]): Options {
	const { values } = parseArgs({
		args: [...words],
		options: {
			only: { type: 'string' },
			peers: { type: 'string' },
			rounds: { type: 'string', default: '5' },
			starts: { type: 'string', default: '1' },
			seconds: { type: 'string', default: '2' },
			warmup: { type: 'string', default: '2' },
			connections: { type: 'string', default: '32' },
			json: { type: 'string' },
			clean: { type: 'boolean', default: false },
		},
	})
	return {
		workloads: values.only === undefined ? NAMES : workloadsNamed(values.only.split(',')),
		peers: new Set(values.peers === undefined ? PEER_NAMES : peersNamed(values.peers.split(','))),
		rounds: atLeast(1, 'rounds', values.rounds),
		starts: atLeast(1, 'starts', values.starts),
		seconds: atLeast(0.1, 'seconds', values.seconds),
		warmupSeconds: atLeast(0, 'warmup', values.warmup),
		connections: atLeast(1, 'connections', values.connections),
		json: values.json,
		clean: values.clean,
	}
}

/** A name selects the workload of that name, or all whose names begin with it and a dash: `routes`, `routes-first`. */
function workloadsNamed(wanted: readonly string[]): string[] {
	const fits = (name: string, word: string): boolean => name === word || name.startsWith(`${word}-`)
	for (const word of wanted) {
		if (NAMES.some((name) => fits(name, word))) continue
		throw new RangeError(`--only: there is no workload ${word}. There are: ${NAMES.join(', ')}`)
	}
	return NAMES.filter((name) => wanted.some((word) => fits(name, word)))
}

function peersNamed(wanted: readonly string[]): readonly string[] {
	for (const word of wanted) {
		if (PEER_NAMES.includes(word)) continue
		throw new RangeError(`--peers: there is no peer ${word}. There are: ${PEER_NAMES.join(', ')}`)
	}
	return wanted
}

/** The selected peers of a workload. Its reference is always included, and comes first. */
export function peersOf({ peers }: Workload, options: Options): Peer[] {
	return peers.filter(({ name }, index) => index === 0 || options.peers.has(name))
}

function atLeast(least: number, name: string, text: string): number {
	const value = Number(text)
	if (value >= least && (least < 1 || Number.isInteger(value))) return value
	throw new RangeError(
		`--${name} must be a number from ${least} up${least < 1 ? '' : ', and whole'}, got ${text}`,
	)
}
