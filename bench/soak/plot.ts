/** The plot of a run, as SVG: memory, event loop, requests and latency over time; light or dark by the reader's preference. */
import { HEAP, OUTSIDE, objectsOf } from './memory.ts'
import { escaped, type PanelOptions, panel, type Series } from './plot/panel.ts'
import type { Moment, Run } from './record.ts'
import type { Sample } from './reports.ts'

const WIDTH = 960
const HEIGHT = 110
const GAP = 52
const TOP = 92
const [LEFT, RIGHT] = [64, WIDTH - 24]

const STYLE = `
	svg { color-scheme: light dark; font: 12px system-ui, sans-serif; --paper: #fff; --ink: #1f2328; --soft: #59636e; --grid: #d8dee4; --a: #0969da; --b: #bc4c00; --c: #1a7f37 }
	@media (prefers-color-scheme: dark) { svg { --paper: #0d1117; --ink: #e6edf3; --soft: #9198a1; --grid: #30363d; --a: #58a6ff; --b: #f0883e; --c: #56d364 } }
	.paper { fill: var(--paper) } text { fill: var(--ink) } .tick, .unit { fill: var(--soft); font-weight: 400 } .title { font-weight: 600; font-size: 13px } .head { font-size: 16px; font-weight: 600 }
	.grid { stroke: var(--grid); fill: none } .bound { stroke: var(--soft); stroke-dasharray: 2 3; fill: none }
	.line { fill: none; stroke-width: 1.6; stroke-linejoin: round } .a { stroke: var(--a) } .b { stroke: var(--b) } .c { stroke: var(--c) } .dashed { stroke-dasharray: 5 4; stroke-width: 1.2 }`

export function plot(run: Run): string {
	const panels = panelsOf(run)
	const height = TOP + panels.length * (HEIGHT + GAP)
	const seconds = Math.max(run.seconds, run.moments.at(-1)?.at ?? 0)
	const bodies = panels.map((options, index) => {
		const top = TOP + index * (HEIGHT + GAP)
		const showsTime = index === panels.length - 1
		return panel(options, {
			left: LEFT,
			right: RIGHT,
			top,
			height: HEIGHT,
			seconds,
			showsTime,
		})
	})
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="name">
<title id="name">Soak: two processes, PostgreSQL and Redis: memory, event loop, requests and latency over time</title>
<style>${STYLE}
</style>
<rect class="paper" width="${WIDTH}" height="${height}"/>
<text class="head" x="${LEFT}" y="32">Soak: two processes, PostgreSQL and Redis</text>
<text class="tick" x="${LEFT}" y="52">${escaped(run.title)}</text>
${bodies.join('\n')}
<text class="tick" x="${RIGHT}" y="${height - 4}" text-anchor="end">minutes; in the dips the load rests</text>
</svg>
`
}

function panelsOf(run: Run): PanelOptions[] {
	const { moments, endings } = run
	const each = (of: (sample: Sample) => number): Series[] =>
		endings.map(({ name }, at) => {
			const points = moments.flatMap(({ at: time, servers }) =>
				servers.slice(at, at + 1).map((one) => [time, of(one)] as const),
			)
			return { name, colour: colourOf(at), points }
		})
	const one = (name: string, colour: string, of: (moment: Moment) => number): Series => ({
		name,
		colour,
		points: points(moments, of),
	})
	return [
		{
			...{ title: 'Objects at rest', unit: 'MB, without compiled code', fromZero: false },
			series: [...objects(run), ...trends(run)],
		},
		{
			...{
				title: 'Heap, and what it holds outside (dashed)',
				unit: 'MB behind a full collection',
				fromZero: true,
			},
			series: [
				...each((sample) => HEAP.of(sample) / 1e6),
				...each((sample) => OUTSIDE.of(sample) / 1e6).map((one) => ({ ...one, isDashed: true })),
			],
		},
		{
			...{ title: 'Event loop, p99', unit: 'ms, of the time since the sample before', fromZero: true },
			...{ series: each(({ loop }) => loop.p99), bounds: [{ value: 50, name: 'bound: 50' }] },
		},
		{ title: 'Requests', unit: 'a second', fromZero: true, series: [one('both', 'c', ({ rate }) => rate)] },
		{
			...{ title: 'Latency', unit: 'ms, from when a request was due', fromZero: true },
			series: [one('p50', 'c', ({ latency }) => latency.p50), one('p99', 'b', ({ latency }) => latency.p99)],
		},
	]
}

function objects({ rests, endings }: Run): Series[] {
	return endings.map(({ name }, at) => {
		const points = rests.flatMap((rest) =>
			rest.objects.slice(at, at + 1).map((bytes) => [rest.at, bytes / 1e6] as const),
		)
		return { name, colour: colourOf(at), points }
	})
}

/** The fitted lines whose slopes are judged. */
function trends(run: Run): Series[] {
	const ends = [run.rests[1]?.at ?? 0, run.rests.at(-1)?.at ?? 0]
	return run.endings.flatMap(({ name }, at) => {
		const slope = objectsOf(run, at)?.slope
		if (slope === undefined) return []
		const points = ends.map((time) => [time, (slope.intercept + (slope.slope * time) / 60) / 1e6] as const)
		return [{ name: `slope of ${name}`, colour: colourOf(at), isDashed: true, points }]
	})
}

function points(moments: readonly Moment[], of: (moment: Moment) => number): [number, number][] {
	return moments.map((moment) => [moment.at, of(moment)])
}

function colourOf(at: number): string {
	return at === 0 ? 'a' : 'b'
}
