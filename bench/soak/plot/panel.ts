/** One panel of the plot: lines over time, with axes, units and names. */
import { scale, ticks } from './scale.ts'

export interface Series {
	readonly name: string
	/** Its CSS class: `a`, `b`, or `c`. */
	readonly colour: string
	readonly isDashed?: boolean
	readonly points: readonly (readonly [seconds: number, value: number])[]
}

export interface PanelOptions {
	readonly title: string
	readonly unit: string
	readonly series: readonly Series[]
	/** Horizontal lines, with their names. */
	readonly bounds?: readonly { readonly value: number; readonly name: string }[]
	/** Whether the axis begins at 0. */
	readonly fromZero: boolean
}

/** The position of a panel, and the span of its time axis. */
export interface Frame {
	readonly left: number
	readonly right: number
	readonly top: number
	readonly height: number
	readonly seconds: number
	readonly showsTime: boolean
}

export function panel({ title, unit, series, bounds = [], fromZero }: PanelOptions, frame: Frame): string {
	const { left, right, top, height, seconds, showsTime } = frame
	const values = [
		...series.flatMap(({ points }) => points.map(([, value]) => value)),
		...bounds.map(({ value }) => value),
	]
	const marks = ticks(fromZero ? 0 : Math.min(...values), Math.max(...values), 4)
	const bottom = top + height
	const x = scale([0, seconds], [left, right])
	const y = scale([marks[0] ?? 0, marks.at(-1) ?? 1], [bottom, top])
	const at = (value: number) => value.toFixed(1)
	const grid = marks.map(
		(mark) =>
			`<path class="grid" d="M${left} ${at(y(mark))}H${right}"/><text class="tick" x="${left - 8}" y="${at(y(mark) + 4)}" text-anchor="end">${mark.toLocaleString('en-GB')}</text>`,
	)
	const times = showsTime ? timeAxis(seconds, x, bottom) : []
	const limits = bounds.map(
		({ value, name }) =>
			`<path class="bound" d="M${left} ${at(y(value))}H${right}"/><text class="tick" x="${right}" y="${at(y(value) - 5)}" text-anchor="end">${escaped(name)}</text>`,
	)
	const lines = series.map(({ colour, isDashed = false, points }) => {
		const path = points.map(([time, value]) => `${at(x(time))} ${at(y(value))}`).join('L')
		return `<path class="line ${colour}${isDashed ? ' dashed' : ''}" d="M${path}"/>`
	})
	return [
		`<text class="title" x="${left}" y="${top - 10}">${escaped(title)}<tspan class="unit" dx="6">${escaped(unit)}</tspan></text>`,
		...legend(series, right, top - 10),
		...grid,
		...times,
		...limits,
		...lines,
	].join('\n')
}

function timeAxis(seconds: number, x: (value: number) => number, bottom: number): string[] {
	return ticks(0, seconds / 60, 8)
		.filter((minute) => minute * 60 <= seconds * 1.001)
		.map(
			(minute) =>
				`<text class="tick" x="${x(minute * 60).toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${minute}</text>`,
		)
}

/** Placed from the right, so from the last name to the first. The widths of texts are estimates. */
function legend(series: readonly Series[], right: number, y: number): string[] {
	let end = right
	return series.toReversed().map(({ name, colour, isDashed = false }) => {
		const text = `<text class="tick" x="${end}" y="${y}" text-anchor="end">${escaped(name)}</text>`
		const from = end - name.length * 6.4 - 28
		end = from - 14
		return `${text}<path class="line ${colour}${isDashed ? ' dashed' : ''}" d="M${from.toFixed(1)} ${y - 4}h20"/>`
	})
}

export function escaped(text: string): string {
	return text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;')
}
