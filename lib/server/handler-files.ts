/** The files of a folder that hold handlers, and the paths at which they belong; for `load-handlers.ts`. */
import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parsePath } from '../routing/mount.ts'

/** A file that is to be mounted. */
export interface HandlerFile {
	/** Its handler path: `blog/v2/articles`. */
	readonly path: string
	/** Where it is, absolute. */
	readonly file: string
	/** The same for messages: below the current directory. */
	readonly shown: string
}

const HANDLER = /^(.+)\.m?[jt]s$/s
const LEFT_OUT = /^[._]|^node_modules$|\.d\.m?ts$|\.test\.[^.]+$/

/**
 * The files to mount, in the order of their paths.
 *
 * @throws TypeError for names that can't be in a path, for two files with one path, and for links in circles
 * @throws Error for what can't be read
 */
export function handlerFiles(folder: string): HandlerFile[] {
	const files = filesIn(folder, [], []).sort((a, b) => compare(a.path, b.path) || compare(a.file, b.file))
	refuseCollisions(files)
	return files
}

/** A path for messages: as it would be typed here. */
export function shownAs(file: string): string {
	const below = relative(process.cwd(), file)
	return below === '' || below.startsWith('..') ? file : below
}

/** `above` are the real folders on the way, so that a link to one of them is found out. */
function filesIn(folder: string, segments: readonly string[], above: readonly string[]): HandlerFile[] {
	const real = reading(folder, () => realpathSync(folder))
	if (above.includes(real))
		throw new TypeError(`${shownAs(folder)} is a link to a folder that it is in: its paths would have no end`)
	return reading(folder, () => readdirSync(folder).sort())
		.filter((name) => !LEFT_OUT.test(name))
		.flatMap((name) => {
			const file = join(folder, name)
			const stats: Stats = reading(file, () => statSync(file))
			if (stats.isDirectory()) return filesIn(file, [...segments, name], [...above, real])
			const [, own] = HANDLER.exec(name) ?? []
			if (own === undefined || !stats.isFile()) return []
			return [fileAt(own === 'index' ? segments : [...segments, own], file)]
		})
}

/** By code units: the same order in every locale. */
function compare(a: string, b: string): number {
	return a < b ? -1 : Number(a > b)
}

function fileAt(segments: readonly string[], file: string): HandlerFile {
	const shown = shownAs(file)
	// A file system may have taken letters apart that clients send as one.
	const path = segments.join('/').normalize('NFC')
	return { path: parsePath(`${shown}: the handler path`, path).join('/'), file, shown }
}

function reading<T>(file: string, work: () => T): T {
	try {
		return work()
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause)
		throw new Error(`${shownAs(file)} can't be read: ${reason}`, { cause })
	}
}

/** One file a path; and one spelling, as paths that differ in case alone are one on some systems. */
function refuseCollisions(files: readonly HandlerFile[]): void {
	const taken = new Map<string, HandlerFile>()
	const spelled = new Map<string, { readonly text: string; readonly shown: string }>()
	for (const file of files) {
		const other = taken.get(file.path)
		if (other !== undefined)
			throw new TypeError(
				`${other.shown} and ${file.shown} would both be mounted at ${JSON.stringify(file.path)}: keep one of them`,
			)
		taken.set(file.path, file)
		for (const text of beginningsOf(file.path)) {
			const first = spelled.get(text.toLowerCase()) ?? { text, shown: file.shown }
			if (first.text !== text)
				throw new TypeError(
					`${first.shown} and ${file.shown} spell ${JSON.stringify(text.toLowerCase())} in two ways, which some file systems can't tell apart: use one`,
				)
			spelled.set(text.toLowerCase(), first)
		}
	}
}

/** `a`, `a/b`, `a/b/c`. */
function beginningsOf(path: string): string[] {
	const segments = path.split('/')
	return segments.map((_, at) => segments.slice(0, at + 1).join('/'))
}
