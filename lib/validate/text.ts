/** What text stands for in forms and query strings, where everything is text. Never used on JSON. */
import type { Kind } from './validator.ts'

// As JSON writes them (RFC 8259 §6): no blanks, no hex, no plus, no leading zero or point.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const INTEGER = /^-?(?:0|[1-9]\d*)$/

/**
 * The value that `text` stands for where a field is of `kind`; the text itself where it stands for none,
 * so that the check of the kind refuses it.
 *
 * Numbers are written as in JSON; one too large to be held becomes infinite, which no kind takes.
 * Booleans are `true`, `false`, `1`, `0`, and `on`, which a browser sends for a ticked checkbox without
 * a value (one that is not ticked isn't sent). One text is an array of one; text is never an object.
 */
export function fromText(kind: Kind | undefined, text: string): unknown {
	switch (kind) {
		case 'number':
			return NUMBER.test(text) ? withoutSign(Number(text)) : text
		case 'integer':
			return INTEGER.test(text) ? withoutSign(Number(text)) : text
		case 'boolean':
			return fromFlag(text)
		case 'array':
			return [text]
		default:
			return text
	}
}

/** `-0` is nobody's wish, and an `Object.is` away from 0. */
function withoutSign(number: number): number {
	return number === 0 ? 0 : number
}

function fromFlag(text: string): string | boolean {
	if (text === 'true' || text === '1' || text === 'on') return true
	return text === 'false' || text === '0' ? false : text
}
