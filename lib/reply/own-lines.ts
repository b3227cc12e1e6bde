/** Header lines that answers have whatever the method says: the end of its handler, and who may read them. */
import type { Exchange } from '../exchange/exchange.ts'

const NONE: readonly string[] = []

/** Whether there are any: of most answers there are none. */
export function hasOwnLines({ app, mount }: Exchange): boolean {
	return app.cors !== undefined || mount?.deprecation !== undefined
}

/** The lines, names and values in turn. */
export function ownLines(exchange: Exchange): readonly string[] {
	return [...endOf(exchange), ...originOf(exchange)]
}

/**
 * Adds the lines to those of an answer. What the method has set itself stays as it is, for one method may have
 * another end, or be for everybody; a list's own `Link` stays beside ours; names in `Vary` are put together, each once.
 */
export function addOwnLines(exchange: Exchange, lines: string[]): void {
	add(lines, endOf(exchange))
	add(lines, originOf(exchange))
}

function endOf({ mount }: Exchange): readonly string[] {
	return mount?.deprecation ?? NONE
}

function originOf({ app, headers }: Exchange): readonly string[] {
	return app.cors?.forOrigin(headers.origin).lines ?? NONE
}

function add(lines: string[], own: readonly string[]): void {
	for (let at = 0; at < own.length; at += 2) {
		const name = own[at] ?? ''
		const value = own[at + 1] ?? ''
		const isList = name === 'Link' || name === 'Access-Control-Expose-Headers'
		if (name === 'Vary') vary(lines, value)
		else if (isList || placeOf(lines, name) === -1) lines.push(name, value)
	}
}

/** Names one more header in `Vary`, where it isn't named yet, and `*` doesn't stand for all (RFC 9110 §12.5.5). */
export function vary(lines: string[], header: string): void {
	const first = placeOf(lines, 'Vary')
	if (first === -1) {
		lines.push('Vary', header)
		return
	}
	const names: string[] = []
	for (let at = first; at !== -1; at = placeOf(lines, 'Vary', at + 2))
		names.push(...(lines[at + 1] ?? '').split(',').map((name) => name.trim().toLowerCase()))
	if (names.includes('*') || names.includes(header.toLowerCase())) return
	const before = lines[first + 1] ?? ''
	lines[first + 1] = before.trim() === '' ? header : `${before}, ${header}`
}

/** Index of the line of a name, from a place on; -1 where there is none. */
export function placeOf(lines: readonly string[], name: string, from = 0): number {
	for (let at = from; at < lines.length; at += 2) {
		const other = lines[at] ?? ''
		if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return at
	}
	return -1
}
