/** A line of the verdict, and the table of all. */

/** One line of the table. */
export interface Line {
	readonly what: string
	readonly measured: string
	readonly allowed: string
	/** `undefined` if it is only reported, not judged. */
	readonly holds: boolean | undefined
}

export function line(what: string, measured: string, allowed: string, holds: boolean | undefined): Line {
	return { what, measured, allowed, holds }
}

/** The printed table, ending with whether all lines hold. */
export function table(lines: readonly Line[]): string {
	const width = (of: (line: Line) => string) => Math.max(...lines.map((one) => of(one).length))
	const [what, measured] = [width((one) => one.what), width((one) => one.measured)]
	const rows = lines.map((one) => {
		const mark = one.holds === undefined ? '    ' : one.holds ? 'ok  ' : 'FAIL'
		return `${mark}  ${one.what.padEnd(what)}  ${one.measured.padEnd(measured)}  ${one.allowed}`.trimEnd()
	})
	const failed = lines.filter(({ holds }) => holds === false).length
	return [...rows, '', failed === 0 ? 'All of it holds.' : `${failed} of it fail.`].join('\n')
}
