/** Counts what must not happen in a server process: rejections that nobody handles, exceptions, warnings of Node. */
import type { Faults } from '../reports.ts'

/** How many are told in words. */
const TOLD = 5

/** Listens from now on. Whoever listens keeps the process alive, so that the rest of the run is seen, too. */
export function countFaults(): () => Faults {
	const counts = { rejections: 0, exceptions: 0, warnings: 0 }
	const first: string[] = []
	const listen = (event: string, count: keyof typeof counts): void => {
		process.on(event, (reason: unknown) => {
			counts[count]++
			if (first.length < TOLD) first.push(`${event}: ${textOf(reason)}`)
		})
	}
	listen('unhandledRejection', 'rejections')
	listen('uncaughtException', 'exceptions')
	listen('warning', 'warnings')
	return () => ({ ...counts, first: [...first] })
}

function textOf(reason: unknown): string {
	return reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)
}
