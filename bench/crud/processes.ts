/** CPU time of processes that the bench hasn't started: the database's. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second on all platforms that Node supports. */
const MICROSECONDS_PER_TICK = 10_000

/**
 * User and system time of all processes with one of these names, and of their children that have ended: a backend's time
 * isn't lost when its connection closes. 0 if there is no `/proc`.
 */
export function processesMicroseconds(names: readonly string[]): number {
	if (names.length === 0) return 0
	let ticks = 0
	for (const pid of pids()) ticks += ticksOf(pid, names)
	return ticks * MICROSECONDS_PER_TICK
}

function pids(): string[] {
	try {
		return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
	} catch {
		return []
	}
}

/** Fields of proc_pid_stat(5): 2 is the name in parentheses, 14 to 17 utime, stime, cutime, cstime. */
function ticksOf(pid: string, names: readonly string[]): number {
	let text: string
	try {
		text = readFileSync(`/proc/${pid}/stat`, 'latin1')
	} catch {
		return 0 // it has ended since `/proc` was read
	}
	const end = text.lastIndexOf(')')
	if (!names.includes(text.slice(text.indexOf('(') + 1, end))) return 0
	const fields = text.slice(end + 2).split(' ')
	return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
}
