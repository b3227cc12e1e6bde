/** Mappings of source maps (ECMA-426): each output position's place in the source. */

/** A place of a line, and the source, line and column that it comes from. */
export interface Segment {
	readonly column: number
	readonly source: number
	readonly line: number
	readonly from: number
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The mappings of one file. */
export class Mappings {
	readonly #lines: Segment[][]

	constructor(json: string) {
		const { mappings } = JSON.parse(json) as { mappings: string }
		let [source, line, from] = [0, 0, 0]
		this.#lines = mappings.split(';').map((text) => {
			let column = 0
			return text
				.split(',')
				.filter(Boolean)
				.map((segment) => {
					const [columns = 0, sources = 0, lines = 0, columnsThere = 0] = decoded(segment)
					column += columns
					source += sources
					line += lines
					from += columnsThere
					return { column, source, line, from }
				})
		})
	}

	/** The segments of a line. */
	line(at: number): readonly Segment[] {
		return this.#lines[at] ?? []
	}

	/** As the text of a map. */
	static written(lines: readonly (readonly Segment[])[]): string {
		let [source, line, from] = [0, 0, 0]
		return lines
			.map((segments) => {
				let column = 0
				return segments
					.map((one) => {
						const values = [one.column - column, one.source - source, one.line - line, one.from - from]
						;({ column, source, line, from } = one)
						return values.map(encoded).join('')
					})
					.join(',')
			})
			.join(';')
	}
}

/** The segments of a line of which some places were made longer, or shorter. */
export function shifted(
	segments: readonly Segment[],
	edits: readonly { readonly at: number; readonly by: number }[],
	source: number,
): Segment[] {
	return segments.map((segment) => {
		const before = edits.filter(({ at }) => at < segment.column)
		return { ...segment, source, column: before.reduce((sum, { by }) => sum + by, segment.column) }
	})
}

function decoded(text: string): number[] {
	const values: number[] = []
	let [value, shift] = [0, 0]
	for (const digit of text) {
		const bits = DIGITS.indexOf(digit)
		value += (bits & 31) << shift
		shift += 5
		if (bits >= 32) continue
		values.push(value & 1 ? -(value >> 1) : value >> 1)
		value = 0
		shift = 0
	}
	return values
}

function encoded(value: number): string {
	let rest = value < 0 ? (-value << 1) | 1 : value << 1
	let text = ''
	do {
		const bits = rest & 31
		rest >>= 5
		text += DIGITS[rest > 0 ? bits | 32 : bits]
	} while (rest > 0)
	return text
}
