/**
 * Writes metrics as text: in OpenMetrics 1.0, or in Prometheus' format 0.0.4, in which OpenMetrics began. They differ in the
 * names of counters, in units, and in the last line. Used by `metrics.ts`.
 */

/** A media type of metrics, as it is sent. */
export const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>

/** A value with its labels: `[{ pool: 'postgresql' }, 3]`. */
export type Sample = readonly [labels: Labels, value: number]

export interface HistogramSample {
	readonly labels: Labels
	/** How many values are at most each bound, but above the one before; at the end, how many are above all. */
	readonly buckets: readonly number[]
	readonly sum: number
}

export class Exposition {
	readonly #isOpenMetrics: boolean
	readonly #lines: string[] = []

	constructor(isOpenMetrics: boolean) {
		this.#isOpenMetrics = isOpenMetrics
	}

	/** @param samples a number for a single sample without labels; nothing is written for an empty list */
	gauge(name: string, help: string, samples: number | readonly Sample[]): void {
		this.#family(name, 'gauge', help, name, samples)
	}

	/** @param name ends in `_total` */
	counter(name: string, help: string, samples: number | readonly Sample[]): void {
		const family = this.#isOpenMetrics ? name.replace(/_total$/, '') : name
		this.#family(family, 'counter', help, name, samples)
	}

	histogram(name: string, help: string, bounds: readonly number[], samples: Iterable<HistogramSample>): void {
		const places = [...bounds.map(boundText), '+Inf'].map((bound) => `le="${bound}"`)
		this.#head(name, 'histogram', help)
		for (const { labels, buckets, sum } of samples) {
			const text = labelText(labels)
			let count = 0
			for (const [at, place] of places.entries()) {
				count += buckets[at] ?? 0
				this.#lines.push(`${name}_bucket{${text},${place}} ${count}`)
			}
			this.#lines.push(`${name}_sum{${text}} ${sum}`, `${name}_count{${text}} ${count}`)
		}
	}

	toString(): string {
		return `${this.#lines.join('\n')}\n${this.#isOpenMetrics ? '# EOF\n' : ''}`
	}

	#family(
		family: string,
		type: string,
		help: string,
		name: string,
		samples: number | readonly Sample[],
	): void {
		const all = typeof samples === 'number' ? [[{}, samples] as const] : samples
		if (all.length === 0) return
		this.#head(family, type, help)
		for (const [labels, value] of all) {
			const text = labelText(labels)
			this.#lines.push(`${name}${text === '' ? '' : `{${text}}`} ${value}`)
		}
	}

	#head(family: string, type: string, help: string): void {
		this.#lines.push(`# HELP ${family} ${help}`, `# TYPE ${family} ${type}`)
		const [, unit] = /_(seconds|bytes)$/.exec(family) ?? []
		if (this.#isOpenMetrics && unit !== undefined) this.#lines.push(`# UNIT ${family} ${unit}`)
	}
}

/** A bound as a float: Prometheus compares the texts, and has `1.0` for `1` since its version 3. */
function boundText(bound: number): string {
	return Number.isInteger(bound) ? `${bound}.0` : String(bound)
}

function labelText(labels: Labels): string {
	return Object.entries(labels)
		.map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (letter) => ESCAPES[letter] ?? letter)}"`)
		.join()
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
