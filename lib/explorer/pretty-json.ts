/**
 * JSON laid out for people, from its text: it is walked, not parsed, so that every digit of every number stays, and
 * what isn't JSON, or is cut off, is shown too. In linear time, without recursion. Used by the server and by the page.
 */

export type PieceKind = 'key' | 'text' | 'number' | 'word' | 'other'

/** A part of the laid-out text. Those in a row make the whole. */
export interface Piece {
	readonly kind: PieceKind
	readonly text: string
}

const TAB = '  '
/** Deeper lines begin no further right: their spaces would be most of the text. */
const DEEPEST = 24
/** Most spaces and line ends that are put in: behind them, all is in one line. A page is never many times its data. */
const MOST_LAYOUT = 1_000_000
const OPENING = '{['
const CLOSING = '}]'
const SPACE = ' \t\r\n'
const ENDS = `${OPENING}${CLOSING}${SPACE},:"`

export function* piecesOf(json: string): Generator<Piece, void> {
	/** Of each container around: whether it is an object. */
	const open: boolean[] = []
	let other = ''
	let isKey = false
	let left = MOST_LAYOUT
	const newLine = () => {
		const line = `\n${TAB.repeat(Math.min(open.length, DEEPEST))}`
		left -= line.length
		return left < 0 ? '' : line
	}
	let at = 0
	while (at < json.length) {
		const char = json[at] ?? ''
		const end = endOf(json, at)
		if (char === '"' || end - at > 1 || !isStructure(char)) {
			if (other !== '') yield { kind: 'other', text: other }
			other = ''
			const text = json.slice(at, end)
			yield { kind: char === '"' ? (isKey ? 'key' : 'text') : kindOf(char), text }
			at = end
			continue
		}
		at = end
		if (OPENING.includes(char)) {
			const next = afterSpace(json, at)
			if (CLOSING.includes(json[next] ?? '.')) {
				other += char + json[next]
				at = next + 1
				continue
			}
			open.push(char === '{')
			isKey = char === '{'
			other += char + newLine()
		} else if (CLOSING.includes(char)) {
			open.pop()
			other += newLine() + char
		} else if (char === ',') {
			isKey = open.at(-1) === true
			other += `,${newLine()}`
		} else if (char === ':') {
			isKey = false
			other += ': '
		}
	}
	if (other !== '') yield { kind: 'other', text: other }
}

/** The whole, as plain text. */
export function prettyJson(json: string): string {
	let text = ''
	for (const piece of piecesOf(json)) text += piece.text
	return text
}

function isStructure(char: string): boolean {
	return (
		OPENING.includes(char) || CLOSING.includes(char) || SPACE.includes(char) || char === ',' || char === ':'
	)
}

function kindOf(char: string): PieceKind {
	return /[-\d]/.test(char) ? 'number' : 'word'
}

/** Where what begins at a place ends: a text behind its quote, a word or number before what can't be in it. */
function endOf(json: string, from: number): number {
	let at = from + 1
	if (json[from] === '"') {
		for (; at < json.length; at++) {
			if (json[at] === '\\') at++
			else if (json[at] === '"') return at + 1
		}
		return json.length
	}
	if (isStructure(json[from] ?? '')) return at
	while (at < json.length && !ENDS.includes(json[at] ?? '')) at++
	return at
}

function afterSpace(json: string, from: number): number {
	let at = from
	while (at < json.length && SPACE.includes(json[at] ?? '.')) at++
	return at
}
