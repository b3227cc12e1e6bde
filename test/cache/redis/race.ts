/** Four processes, with all three clients, race for the same keys. Called by `atomic.long.ts`. */
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { bundled } from '../../helpers/bundled.ts'
import { type Running, start, untilPrinted } from '../../helpers/program.ts'
import { REDIS_PORT } from '../../helpers/redis.ts'
import type { Finish } from './racer.ts'
import type { ClientName } from './servers.ts'

const RACERS: readonly ClientName[] = ['ioredis', 'node-redis', 'iovalkey', 'ioredis']

export interface Race {
	readonly work: 'add' | 'increment'
	/** A multiple of 10. */
	readonly keys: number
	/** The number of concurrent calls per key and process. */
	readonly copies: number
	/** How many times it goes over all keys; 0: until `meanwhile` has ended, and once more. @default 1 */
	readonly rounds?: number
	readonly prefix: string
	readonly port?: number
}

/** Runs a race to its end; `meanwhile` is called once it has started. */
export async function race(
	{ work, keys, copies, rounds = 1, prefix, port = REDIS_PORT }: Race,
	meanwhile: () => Promise<void> = async () => {},
): Promise<Finish[]> {
	const file = new URL('racer.ts', import.meta.url).pathname
	// The existing Redis stays up, and gets a long timeout on a slow machine; others are killed.
	const seconds = port === REDIS_PORT ? 60 : 1
	const numbers = [keys, copies, rounds, seconds].map(String)
	const program = await bundled(file)
	const racers = RACERS.map((name) =>
		start({ args: [...program, name, String(port), prefix, work, ...numbers] }),
	)
	try {
		await Promise.all(racers.map((racer) => untilPrinted(racer, 'ready\n')))
		const finishes = racers.map(finishOf)
		for (const { child } of racers) child.send('go')
		await meanwhile()
		if (rounds === 0) for (const { child } of racers) child.send('once more')
		return await Promise.all(finishes)
	} finally {
		for (const { child } of racers) child.kill('SIGKILL')
		await Promise.all(racers.map(({ ended }) => ended))
	}
}

async function finishOf({ child, ended, output }: Running): Promise<Finish> {
	const [finish] = await Promise.race([once(child, 'message'), ended.then(() => [])])
	if (finish === undefined) throw new Error(`a racer did not finish:\n${output()}`)
	return finish as Finish
}

/** Fails unless each key was won exactly once, by any process. */
export function eachWonOnce(finishes: readonly Finish[], keys: number): void {
	noErrors(finishes)
	const won = finishes.flatMap((finish) => finish.won).toSorted((a, b) => a - b)
	assert.equal(won, upTo(keys))
}

/** Fails unless the results for a key are 1, 2, 3 and so on, each once. */
export function eachCountedOnce(finishes: readonly Finish[], { keys, copies, rounds = 1 }: Race): void {
	noErrors(finishes)
	const expected = upTo(copies * rounds * finishes.length).map((at) => at + 1)
	for (let key = 0; key < keys; key++) {
		const counts = finishes.flatMap((finish) => finish.counts[key] ?? []).toSorted((a, b) => a - b)
		assert.equal(counts, expected, `key ${key}`)
	}
}

function noErrors(finishes: readonly Finish[]): void {
	for (const { errors } of finishes) assert.equal(errors, {})
}

function upTo(length: number): number[] {
	return Array.from({ length }, (_, at) => at)
}
