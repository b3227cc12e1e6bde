/** Counts what must not happen in a server process: unhandled rejections, uncaught exceptions, warnings of Node. */
import type { Faults } from '../reports.ts'

/** The number of faults that are reported with their text. */
const MAX_TEXTS = 5

/** Starts counting. With these listeners a fault doesn't end the process, so the run continues. */
export function countFaults(): () => Faults {
	const counts = { rejections: 0, exceptions: 0, warnings: 0 }
	const first: string[] = []
	const listen = (event: string, count: keyof typeof counts): void => {
		process.on(event, (reason: unknown) => {
			counts[count]++
			if (first.length < MAX_TEXTS) first.push(`${event}: ${textOf(reason)}`)
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
