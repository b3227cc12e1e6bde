/** What others have taken of the machine, as Linux counts it: a loop that is late because of them says nothing of the library. */
import { readFileSync } from 'node:fs'

/** Milliseconds for which the main thread of this process could have gone on, and had no core; 0 on another system. */
export function waitedMs(): number {
	return Number(read('/proc/self/schedstat').split(' ')[1] ?? 0) / 1e6
}

/** Hundredths of seconds of all cores since the start of the machine: all of them, and those that its host gave to others. */
export interface Ticks {
	readonly all: number
	readonly stolen: number
}

/** Fields of the first line of proc_stat(5): the eighth is `steal`, and what is behind it is counted before, too. */
export function machineTicks(): Ticks {
	const [line = ''] = read('/proc/stat').split('\n', 1)
	const ticks = line.split(/ +/).slice(1, 9).map(Number)
	return { all: ticks.reduce((sum, count) => sum + count, 0), stolen: ticks[7] ?? 0 }
}

function read(path: string): string {
	try {
		return readFileSync(path, 'latin1')
	} catch {
		return ''
	}
}
