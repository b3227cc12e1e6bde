/** The option `compression` of `createServer`, with its bounds and defaults. */
import { nearest } from '../../base/options.ts'
import type { Bytes } from '../../base/time.ts'
import { CODINGS, type Coding, type Encoding } from './codings.ts'
import { Compression } from './compression.ts'

/** The option `compression`: which answers are compressed, and by what. */
export interface CompressionOptions {
	/**
	 * Fewest bytes of an answer that is compressed; one whose length isn't known, a stream, always is. From 0 up.
	 * @default 1_024
	 */
	readonly threshold?: Bytes
	/**
	 * The codings, the first being preferred where a client takes several alike: `['gzip']`. `'zstd'` needs Node 22.15.
	 * @default `'br'`, `'zstd'` where Node has it, `'gzip'`
	 */
	readonly encodings?: readonly Encoding[]
}

const NAMES = ['threshold', 'encodings']

/** @throws TypeError for an option of the wrong kind, or that there isn't; RangeError for a threshold out of bounds */
export function compressionOf(option: boolean | CompressionOptions | undefined): Compression | undefined {
	if (option === undefined || option === false) return undefined
	if (option === true) return compressionOf({})
	if (typeof option !== 'object' || option === null || Array.isArray(option))
		throw new TypeError(
			`compression must be true, false or an object: { threshold: 1_024 }, got ${shown(option)}`,
		)
	const unknown = Object.keys(option).find((name) => !NAMES.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`compression has no option ${unknown}${nearest(unknown, NAMES)}`)
	const { threshold = 1_024, encodings = [...CODINGS.keys()] } = option
	checkThreshold(threshold)
	if (!Array.isArray(encodings) || encodings.length === 0)
		throw new TypeError(`compression.encodings must be a list: ['br', 'gzip'], got ${shown(encodings)}`)
	return new Compression(threshold, encodings.map(codingOf))
}

function checkThreshold(value: unknown): void {
	if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return
	const message = `compression.threshold must be a whole number of bytes from 0 up, got ${shown(value)}`
	throw typeof value === 'number' ? new RangeError(message) : new TypeError(message)
}

function codingOf(name: unknown, at: number, all: readonly unknown[]): Coding {
	const coding = [...CODINGS.values()].find((one) => one.name === name)
	if (coding !== undefined && all.indexOf(name) === at) return coding
	if (coding !== undefined) throw new TypeError(`compression.encodings names '${name}' twice`)
	if (name === 'zstd')
		throw new TypeError(
			`compression.encodings names 'zstd', which Node has from 22.15 on, and ${process.version} hasn't`,
		)
	throw new TypeError(`compression.encodings[${at}] must be 'br', 'zstd' or 'gzip', got ${shown(name)}`)
}

function shown(value: unknown): string {
	if (typeof value === 'string') return JSON.stringify(value)
	if (typeof value === 'number' || value === null || value === undefined) return String(value)
	return Array.isArray(value) ? (value.length === 0 ? 'an empty one' : 'an array') : `a ${typeof value}`
}
