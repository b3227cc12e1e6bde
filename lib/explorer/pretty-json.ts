/**
 * Formats JSON with line breaks and indentation. It is tokenized, not parsed: numbers keep all digits, and invalid or
 * truncated JSON is formatted too. Linear time, no recursion. Used by the server and by the page's script.
 */

type TokenKind = 'key' | 'text' | 'number' | 'word' | 'other'

/** A part of the formatted text, which is the concatenation of all tokens. */
export interface Token {
	readonly kind: TokenKind
	readonly text: string
}

const INDENT = '  '
/** Deeper lines are indented no further; otherwise most of the text could be spaces. */
const MAX_INDENTS = 24
/**
 * Maximum number of characters of line breaks and indentation. The rest is one line, so that a page isn't many times as
 * large as its data.
 */
const MAX_LAYOUT = 1_000_000
const OPENING = '{['
const CLOSING = '}]'
const SPACE = ' \t\r\n'
const STRUCTURE = `${OPENING}${CLOSING}${SPACE},:`

export function* tokensOf(json: string): Generator<Token, void> {
	/** The stack of open containers: whether each is an object. */
	const open: boolean[] = []
	let other = ''
	let isKey = false
	let left = MAX_LAYOUT
	const newLine = () => {
		const line = `\n${INDENT.repeat(Math.min(open.length, MAX_INDENTS))}`
		left -= line.length
		return left < 0 ? '' : line
	}
	let at = 0
	while (at < json.length) {
		const char = json[at] ?? ''
		const end = endOf(json, at)
		if (!STRUCTURE.includes(char)) {
			if (other !== '') yield { kind: 'other', text: other }
			other = ''
			const text = json.slice(at, end)
			yield { kind: char === '"' ? (isKey ? 'key' : 'text') : kindOf(char), text }
			at = end
			continue
		}
		at = end
		if (OPENING.includes(char)) {
			let next = at
			while (next < json.length && SPACE.includes(json[next] ?? '.')) next++
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

export function prettyJson(json: string): string {
	let text = ''
	for (const token of tokensOf(json)) text += token.text
	return text
}

function kindOf(char: string): TokenKind {
	return /[-\d]/.test(char) ? 'number' : 'word'
}

/** The end of the token that starts at `from`. */
function endOf(json: string, from: number): number {
	let at = from + 1
	if (json[from] === '"') {
		for (; at < json.length; at++) {
			if (json[at] === '\\') at++
			else if (json[at] === '"') return at + 1
		}
		return json.length
	}
	if (STRUCTURE.includes(json[from] ?? '')) return at
	while (at < json.length && json[at] !== '"' && !STRUCTURE.includes(json[at] ?? '')) at++
	return at
}
