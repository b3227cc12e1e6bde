/** The names of a method's parameters, read from its source: descriptions of an API call path segments by them. */
import { stringEnd, withoutComments } from './plain-params.ts'

export interface ParamName {
	readonly name: string
	/** Whether it has a default, or is a rest: a path may leave it out. */
	readonly optional: boolean
	/** Whether it takes all that follow. */
	readonly rest: boolean
}

/** What stands before the first parameter; or a parameter that stands alone, without parentheses: `id => …`. */
const HEAD =
	/^\s*(?:(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>|(?:async\b)?\s*(?:function\b)?\s*\*?\s*(?:[^\s([\]'"]+|'[^']*'|"[^"]*"|\[[^\]]*\])?\s*\()/
/** What stands in place of a body that can't be seen. */
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/
const OPENING = '([{'
const CLOSING = ')]}'

/**
 * The parameters of a method, as they were written. A pattern, `{ a, b }`, and a name that isn't all letters, digits and
 * `_` is called by its place: `param1`. None where the source doesn't say, as of bound functions.
 */
export function paramNamesOf(method: (...params: never[]) => unknown): ParamName[] {
	const source = withoutComments(Function.prototype.toString.call(method))
	const head = HEAD.exec(source)
	if (head === null || NATIVE.test(source)) return []
	const [text, single] = head
	if (single !== undefined) return [paramName(single, 0)]
	const names = splitAt(source, text.length).map(paramName)
	// What stands before one that must be there must be there too.
	const last = names.findLastIndex(({ optional }) => !optional)
	return names.map((one, at) => (at < last ? { ...one, optional: false } : one))
}

function paramName(text: string, at: number): ParamName {
	// Readers of paths' templates know no other letters, and no `$`.
	const [, dots, name] = /^\s*(\.\.\.)?\s*([A-Za-z_]\w*(?![^\s=]))?/.exec(text) ?? []
	const rest = dots !== undefined
	return { name: name ?? `param${at + 1}`, optional: rest || hasDefault(text), rest }
}

/** Whether there is a `=` that isn't inside of a pattern. */
function hasDefault(text: string): boolean {
	let depth = 0
	for (const char of text) {
		if (OPENING.includes(char)) depth++
		else if (CLOSING.includes(char)) depth--
		else if (char === '=' && depth === 0) return true
	}
	return false
}

/** The parts between commas, from a place in the source up to the parenthesis that closes the list. */
function splitAt(source: string, from: number): string[] {
	const parts: string[] = []
	let depth = 0
	let start = from
	for (let at = from; at < source.length; at++) {
		const char = source[at] ?? ''
		const end = stringEnd(source, at)
		if (end !== undefined) at = end - 1
		else if (OPENING.includes(char)) depth++
		else if (depth > 0 && CLOSING.includes(char)) depth--
		else if (depth === 0 && (char === ',' || char === ')')) {
			parts.push(source.slice(start, at))
			start = at + 1
			if (char === ')') break
		}
	}
	return parts.filter((part) => part.trim() !== '')
}
