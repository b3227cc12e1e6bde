/**
 * JSON with line breaks and indentation. Its text is scanned, not parsed, so that numbers keep all digits, and text that
 * isn't JSON or is cut off is shown too. Linear time, no recursion. Used by the server and by the page's script.
 */

type PieceKind = 'key' | 'text' | 'number' | 'word' | 'other'

/** A part of the formatted text; all in a row are the whole. */
export interface Piece {
	readonly kind: PieceKind
	readonly text: string
}

const TAB = '  '
/** Deeper lines are indented no further: their spaces would be most of the text. */
const DEEPEST = 24
/** Most characters of layout; after that all is one line, so that a page is never many times its data. */
const MOST_LAYOUT = 1_000_000
const OPENING = '{['
const CLOSING = '}]'
const SPACE = ' \t\r\n'
const ENDS = `${OPENING}${CLOSING}${SPACE},:"`

export function* piecesOf(json: string): Generator<Piece, void> {
	/** For each container around the current place: whether it is an object. */
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

/** Where the token that begins at a place ends: a string after its quote, a word or number before the next delimiter. */
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
