/** Whether memory grows: the slope of the memory that is in use during rests of the load, with its confidence interval. */
import { type Line, line } from './line.ts'
import { type Run, warmUpOf } from './record.ts'
import type { Sample } from './reports.ts'
import { FEWEST, type Point, type Slope, slopeOf } from './slope.ts'

/** A figure of the samples, and its name. */
export interface Figure {
	readonly name: string
	of(sample: Sample): number
}

export const HEAP: Figure = { name: 'heap', of: ({ heap }) => heap }
/** Buffers, compressors and other memory that objects hold outside the heap. */
export const OUTSIDE: Figure = { name: 'outside the heap', of: ({ external }) => external }
/** Reported but not judged: they include compiled code, requests pending at a sample, and memory that allocators keep. */
const REPORTED: readonly Figure[] = [HEAP, OUTSIDE, { name: 'resident set', of: ({ rss }) => rss }]

/** How a figure grows over the judged part of a run. */
export interface Growth {
	/** In bytes per minute. */
	readonly slope: Slope
	/** Growth of the fitted line from the first point to the last, as a fraction of its value at the first. */
	readonly part: number
}

export function memoryLines(run: Run, name: string, at: number): Line[] {
	const bound = boundOf(run.seconds)
	const growth = objectsOf(run, at)
	const what = `objects at rest, ${name}`
	return [
		growth === undefined
			? line(what, 'too few rests', '', false)
			: line(what, textOf(growth), `0 within, or < ${100 * bound} %`, isFlat(growth, bound)),
		...REPORTED.map((figure) => {
			const growth = figureOf(run, at, figure)
			return line(`${figure.name}, ${name}`, growth === undefined ? '' : textOf(growth), '', undefined)
		}),
	]
}

/** The growth of objects, without the first rest: not everything that is created once exists then. */
export function objectsOf({ rests }: Run, at: number): Growth | undefined {
	return growthOf(
		rests.slice(1).flatMap((rest) => rest.objects.slice(at, at + 1).map((y) => ({ x: rest.at / 60, y }))),
	)
}

function figureOf({ moments, seconds }: Run, at: number, figure: Figure): Growth | undefined {
	const judged = moments.filter((moment) => moment.at >= warmUpOf(seconds))
	return growthOf(
		judged.flatMap(({ at: time, servers }) =>
			servers.slice(at, at + 1).map((sample) => ({ x: time / 60, y: figure.of(sample) })),
		),
	)
}

function growthOf(points: readonly Point[]): Growth | undefined {
	const [first, last] = [points[0], points.at(-1)]
	if (points.length < FEWEST || first === undefined || last === undefined) return undefined
	const slope = slopeOf(points)
	return { slope, part: (slope.slope * (last.x - first.x)) / (slope.intercept + slope.slope * first.x) }
}

/** Whether there is no significant growth; shrinking is fine. */
function isFlat({ slope: { low }, part }: Growth, bound: number): boolean {
	return low <= 0 || part < bound
}

function boundOf(seconds: number): number {
	return seconds < 300 ? 0.2 : 0.01
}

function textOf({ slope: { slope, low, high }, part }: Growth): string {
	const [middle, from, to] = [slope, low, high].map((bytes) => signed(bytes / 1_000, 1))
	return `${middle} kB/min (${from} to ${to}), ${signed(100 * part, 2)} %`
}

function signed(value: number, digits: number): string {
	const text = Math.abs(value).toFixed(digits)
	return Number(text) === 0 ? text : value < 0 ? `−${text}` : `+${text}`
}
