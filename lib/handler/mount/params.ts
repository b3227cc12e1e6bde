/**
 * The parameters of a method, parsed from its source at mount: how many path segments it takes, and their names for
 * descriptions of the API.
 */
import type { ParamName } from '../../routing/endpoints.ts'

/**
 * Matches `name(a, b) {`, `async *name(a) {` and quoted names, without comments. Not `function (a) {`, which may be a
 * wrapper, nor `function () { [native code] }`, which is a bound function.
 */
const PLAIN_HEAD =
	/^\s*(?:async\b\s*)?(?:\*\s*)?(?!function\b)(?:[\w$]+|'[^']*'|"[^"]*"|\[[^\]]*\])\s*\(([^()]*)\)\s*\{/

/**
 * The number of parameters of a method, so that longer paths are 404. `Infinity` if it isn't certain: for defaults, rest,
 * destructuring, `arguments`, wrapped and bound functions.
 */
export function maxParamsOf(method: (...params: never[]) => unknown): number {
	const source = withoutComments(Function.prototype.toString.call(method))
	const head = PLAIN_HEAD.exec(source)
	const list = head?.[1]?.trim()
	if (list === undefined || /[=.{[]/.test(list) || source.includes('arguments'))
		return Number.POSITIVE_INFINITY
	if (list === '') return 0
	return list.split(',').filter((name) => name.trim() !== '').length
}

/**
 * Removes comments, in one pass. Strings are skipped: `'//'` begins no comment. A regular expression with a quote in it
 * may hide a comment, which at worst leaves the word `arguments` in the text.
 */
export function withoutComments(source: string): string {
	return source.replaceAll(COMMENT_OR_STRING, (part) => (part.startsWith('/') ? ' ' : part))
}

const COMMENT_OR_STRING = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(['"`])(?:\\[\s\S]|(?!\1)[^\\])*\1?/g

/** The end of the string literal at a position; `undefined` if none begins there. */
function stringEnd(source: string, at: number): number | undefined {
	const quote = source[at]
	if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
	let end = at + 1
	while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1
	return end + 1
}

/** Everything before the first parameter; or a single parameter without parentheses: `id => …`. */
const PARAM_LIST =
	/^\s*(?:(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>|(?:async\b)?\s*(?:function\b)?\s*\*?\s*(?:[^\s([\]'"]+|'[^']*'|"[^"]*"|\[[^\]]*\])?\s*\()/
/** The body of a function without source. */
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/
const OPENING = '([{'
const CLOSING = ')]}'

/**
 * The parameters of a method, as written. Patterns, `{ a, b }`, and names with characters other than letters, digits and
 * `_` are named by their position: `param1`. None for functions without source, such as bound ones.
 */
export function paramNamesOf(method: (...params: never[]) => unknown): ParamName[] {
	const source = withoutComments(Function.prototype.toString.call(method))
	const head = PARAM_LIST.exec(source)
	if (head === null || NATIVE.test(source)) return []
	const [text, single] = head
	if (single !== undefined) return [paramName(single, 0)]
	const names = splitAt(source, text.length).map(paramName)
	// A parameter before a required one is required too.
	const last = names.findLastIndex(({ isOptional }) => !isOptional)
	return names.map((one, at) => (at < last ? { ...one, isOptional: false } : one))
}

function paramName(text: string, at: number): ParamName {
	// Path templates allow no other letters, and no `$`.
	const [, dots, name] = /^\s*(\.\.\.)?\s*([A-Za-z_]\w*(?![^\s=]))?/.exec(text) ?? []
	const isRest = dots !== undefined
	return { name: name ?? `param${at + 1}`, isOptional: isRest || hasDefault(text), isRest }
}

/** Whether there is a `=` outside of a pattern. */
function hasDefault(text: string): boolean {
	let depth = 0
	for (const char of text) {
		if (OPENING.includes(char)) depth++
		else if (CLOSING.includes(char)) depth--
		else if (char === '=' && depth === 0) return true
	}
	return false
}

/** The parts between commas, from a position up to the parenthesis that closes the list. */
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
