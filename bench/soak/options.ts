/** The command line of `npm run soak`. */
import { parseArgs } from 'node:util'

export interface SoakOptions {
	readonly minutes: number
	/** Requests per second, over both servers. */
	readonly rate: number
	/** Runs with the same seed have the same visits. */
	readonly seed: number
	/** File of the plot. */
	readonly svg: string
	/** File for all samples. Without it, no file is written. */
	readonly json: string | undefined
}

/**
 * Reads the command line.
 *
 *     --minutes 20 --rate 200 --seed 1 --svg bench/results/soak.svg --json soak.json
 *
 * @throws RangeError for a number out of range; TypeError for an unknown option
 */
export function parseOptions(words: readonly string[]): SoakOptions {
	const { values } = parseArgs({
		args: [...words],
		options: {
			minutes: { type: 'string', default: '20' },
			rate: { type: 'string', default: '200' },
			seed: { type: 'string', default: '1' },
			svg: { type: 'string', default: 'bench/results/soak.svg' },
			json: { type: 'string' },
		},
	})
	return {
		minutes: within('minutes', values.minutes, 0.1, 10_080),
		rate: within('rate', values.rate, 10, 10_000),
		seed: whole('seed', values.seed),
		svg: file('svg', values.svg),
		json: values.json === undefined ? undefined : file('json', values.json),
	}
}

function within(name: string, text: string, least: number, most: number): number {
	const value = text.trim() === '' ? Number.NaN : Number(text)
	if (value >= least && value <= most) return value
	throw new RangeError(`--${name} must be a number from ${least} to ${most}, got ${JSON.stringify(text)}`)
}

function whole(name: string, text: string): number {
	const value = within(name, text, 0, 2 ** 31)
	if (Number.isInteger(value)) return value
	throw new RangeError(`--${name} must be a whole number, got ${JSON.stringify(text)}`)
}

function file(name: string, path: string): string {
	if (path.trim() !== '') return path
	throw new RangeError(`--${name} must name a file, got nothing`)
}
