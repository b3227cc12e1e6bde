/** Keeps servers and load apart: measured processes run on core 0, this process on core 1. */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The command that starts something on core 0; empty where cores can't be chosen. */
export type Pin = readonly string[]

/**
 * Moves this process, with its threads, to core 1. Returns the words to put before a command that shall run on core 0; none
 * without `taskset` (Linux only) or with a single core.
 */
export function splitCores(): Pin {
	if (availableParallelism() < 2) return []
	const { status } = spawnSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
	return status === 0 ? ['taskset', '-c', '0'] : []
}
