/** CPU time lost to other processes and guests, counted by Linux: event loop delays they cause say nothing about the library. */
import { readFileSync } from 'node:fs'

/** Milliseconds in which the main thread of this process was runnable, but had no core; 0 on other systems than Linux. */
export function waitedMs(): number {
	return Number(read('/proc/self/schedstat').split(' ')[1] ?? 0) / 1e6
}

/** CPU time of all cores since the machine started, in hundredths of a second: all, and the part its host gave to other guests. */
export interface Ticks {
	readonly all: number
	readonly stolen: number
}

/** The first line of proc_stat(5): the eighth field is `steal`; later fields are already included in earlier ones. */
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
