/**
 * Finds the first fault of a JSON text that `JSON.parse` has refused: V8's own message quotes the text, which must not be
 * sent to clients. One pass without recursion, so that 100,000 `[` don't overflow the stack.
 */

export interface JsonFault {
	/** UTF-16 units before the fault; the text's length when it ends too early. */
	readonly offset: number
	/** What would be valid there, in words: `a value`, `, or }`. */
	readonly expected: string
}

type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ', or end' | 'nothing'

interface Cursor {
	readonly text: string
	at: number
	next: Next
	/** Closing brackets still to come, innermost last. */
	readonly open: ('}' | ']')[]
}

/** The first fault of `text` by RFC 8259; `undefined` for exactly the texts that `JSON.parse` accepts. */
export function scanJson(text: string): JsonFault | undefined {
	const cursor: Cursor = { text, at: 0, next: 'value', open: [] }
	for (;;) {
		skipSpace(cursor)
		if (cursor.next === 'nothing' && cursor.at === text.length) return undefined
		const expected = step(cursor)
		if (expected !== undefined) return { offset: cursor.at, expected }
	}
}

/** Reads one token. On a fault, returns what was expected, with the cursor at the fault. */
function step(cursor: Cursor): string | undefined {
	switch (cursor.next) {
		case 'value':
		case 'value or ]':
			return value(cursor)
		case 'key':
		case 'key or }':
			return key(cursor)
		case ', or end':
			return separator(cursor)
		case 'nothing':
			return 'nothing after the value'
	}
}

function value(cursor: Cursor): string | undefined {
	const char = cursor.text.charAt(cursor.at)
	if (char === ']' && cursor.next === 'value or ]') return close(cursor)
	if (char === '{') return open(cursor, '}', 'key or }')
	if (char === '[') return open(cursor, ']', 'value or ]')
	const fault = scalar(cursor, char)
	if (fault === undefined) valueEnded(cursor)
	return fault
}

function scalar(cursor: Cursor, char: string): string | undefined {
	if (char === '"') return string(cursor)
	if (char === '-' || isDigit(char)) return number(cursor)
	for (const literal of ['true', 'false', 'null']) {
		if (!cursor.text.startsWith(literal, cursor.at)) continue
		cursor.at += literal.length
		return undefined
	}
	return cursor.next === 'value or ]' ? 'a value or ]' : 'a value'
}

function open(cursor: Cursor, closing: '}' | ']', next: Next): undefined {
	cursor.open.push(closing)
	cursor.at++
	cursor.next = next
}

function close(cursor: Cursor): undefined {
	cursor.open.pop()
	cursor.at++
	valueEnded(cursor)
}

function valueEnded(cursor: Cursor): void {
	cursor.next = cursor.open.length === 0 ? 'nothing' : ', or end'
}

function key(cursor: Cursor): string | undefined {
	const char = cursor.text.charAt(cursor.at)
	if (char === '}' && cursor.next === 'key or }') return close(cursor)
	if (char !== '"')
		return cursor.next === 'key or }' ? 'a key in double quotes or }' : 'a key in double quotes'
	const fault = string(cursor)
	if (fault !== undefined) return fault
	skipSpace(cursor)
	if (cursor.text.charAt(cursor.at) !== ':') return ': after the key'
	cursor.at++
	cursor.next = 'value'
	return undefined
}

function separator(cursor: Cursor): string | undefined {
	const closing = cursor.open.at(-1)
	const char = cursor.text.charAt(cursor.at)
	if (char === closing) return close(cursor)
	if (char !== ',') return `, or ${closing}`
	cursor.at++
	cursor.next = closing === '}' ? 'key' : 'value'
	return undefined
}

/** RFC 8259 §7: every character but the quote, the backslash and controls stands for itself. */
function string(cursor: Cursor): string | undefined {
	const { text } = cursor
	cursor.at++
	while (cursor.at < text.length) {
		const code = text.charCodeAt(cursor.at)
		if (code < 0x20) return 'a control character to be escaped, as in \\n'
		cursor.at++
		if (code === QUOTE) return undefined
		if (code !== BACKSLASH) continue
		const length = escapeLength(text, cursor.at)
		if (length === 0) return 'one of " \\ / b f n r t or u and four hexadecimal digits after the backslash'
		cursor.at += length
	}
	return 'the closing " of a string'
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Length of what follows a backslash at `at`, or 0. */
function escapeLength(text: string, at: number): number {
	if (text.charAt(at) === 'u') return /^[\dA-Fa-f]{4}$/.test(text.slice(at + 1, at + 5)) ? 5 : 0
	return /^["\\/bfnrt]$/.test(text.charAt(at)) ? 1 : 0
}

/** RFC 8259 §6. A zero before other digits ends the number: the next token is then at fault. */
function number(cursor: Cursor): string | undefined {
	// Created per call, because a sticky expression keeps its position between calls.
	const pattern = /-?(?:0|\d*)(?:(?<=\d)\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?/y
	pattern.lastIndex = cursor.at
	const [text = ''] = pattern.exec(cursor.text) ?? []
	cursor.at += text.length
	return isDigit(text.slice(-1)) ? undefined : 'a digit'
}

function isDigit(char: string): boolean {
	return char >= '0' && char <= '9'
}

function skipSpace(cursor: Cursor): void {
	const { text } = cursor
	for (; cursor.at < text.length; cursor.at++) {
		const code = text.charCodeAt(cursor.at)
		// RFC 8259 §2: these four, not what Unicode calls white space.
		if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
	}
}
