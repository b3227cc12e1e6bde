/** The progress line: on a terminal one that is overwritten, otherwise one per minute. */
import type { Findings } from './load/findings.ts'
import type { Moment } from './record.ts'

export interface Progress {
	show(moments: readonly Moment[], findings: Findings, seconds: number): void
	/** Ends the line, so that further output begins on a new one. */
	end(): void
}

const MINUTE = 60

export function progressOn(stream: NodeJS.WriteStream): Progress {
	let told = 0
	let isOpen = false
	return {
		show(moments, findings, seconds) {
			if (stream.isTTY) {
				isOpen = true
				stream.write(`\r\x1b[K${progressLine(moments, findings, seconds).slice(0, stream.columns - 1)}`)
			} else if (Math.floor(seconds / MINUTE) > told) {
				told = Math.floor(seconds / MINUTE)
				stream.write(`${progressLine(moments, findings, seconds)}\n`)
			}
		},
		end() {
			if (isOpen) stream.write('\n')
			isOpen = false
		},
	}
}

/** `3:20  48,211 requests  51,002 checks  0 wrong  241/s  loop p99 12 13 ms  heap 14.1 14.3 MB` */
export function progressLine(
	moments: readonly Moment[],
	{ requests, checks, wrong }: Findings,
	seconds: number,
): string {
	const last = moments.at(-1)
	const time = `${Math.floor(seconds / MINUTE)}:${String(Math.floor(seconds % MINUTE)).padStart(2, '0')}`
	const counts = `${time}  ${grouped(requests)} requests  ${grouped(checks)} checks  ${wrong} wrong`
	if (last === undefined) return counts
	const of = (figure: (server: Moment['servers'][number]) => string) => last.servers.map(figure).join(' ')
	const loop = of((server) => server.loop.p99.toFixed(0))
	const heap = of((server) => (server.heap / 1e6).toFixed(1))
	return `${counts}  ${last.rate.toFixed(0)}/s  loop p99 ${loop} ms  heap ${heap} MB`
}

function grouped(count: number): string {
	return count.toLocaleString('en-GB')
}
