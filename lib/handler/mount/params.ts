/**
 * The parameters of a method, read from its source once, at mount: how many path segments it takes, and the names by which
 * descriptions of the API call them.
 */
import type { ParamName } from '../../routing/endpoints.ts'

/**
 * Matches `name(a, b) {`, `async name(a) {` and quoted names, comments removed. Not `function (a) {`, which may be a
 * wrapper, nor `function () { [native code] }`, which is a bound function.
 */
const PLAIN_HEAD =
	/^\s*(?:async\b\s*)?(?!function\b)(?:[\w$]+|'[^']*'|"[^"]*"|\[[^\]]*\])\s*\(([^()]*)\)\s*\{/

/**
 * The number of parameters of a method that declares only plain ones, so that a longer path is 404.
 * `Infinity` for all others: defaults, rest, destructuring, `arguments`, wrapped and bound functions.
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
 * Removes comments, in one pass. Strings are kept, so that `'//'` begins no comment; a regular expression with a quote in
 * it may hide a comment, which at worst leaves the word `arguments` in the text.
 */
export function withoutComments(source: string): string {
	let text = ''
	for (let at = 0; at < source.length; ) {
		const end = commentEnd(source, at) ?? at
		if (end > at) {
			text += ' '
			at = end
			continue
		}
		const next = stringEnd(source, at) ?? at + 1
		text += source.slice(at, next)
		at = next
	}
	return text
}

function commentEnd(source: string, at: number): number | undefined {
	const begin = source.slice(at, at + 2)
	if (begin !== '//' && begin !== '/*') return undefined
	const end = source.indexOf(begin === '//' ? '\n' : '*/', at + 2)
	if (end === -1) return source.length
	return begin === '//' ? end : end + 2
}

/** The end of the string that begins at a place; `undefined` where none does. */
function stringEnd(source: string, at: number): number | undefined {
	const quote = source[at]
	if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
	let end = at + 1
	while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1
	return end + 1
}

/** All before the first parameter; or a single parameter without parentheses: `id => …`. */
const PARAM_LIST =
	/^\s*(?:(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>|(?:async\b)?\s*(?:function\b)?\s*\*?\s*(?:[^\s([\]'"]+|'[^']*'|"[^"]*"|\[[^\]]*\])?\s*\()/
/** The body of a function without source. */
const NATIVE = /\{\s*\[native code\]\s*\}\s*$/
const OPENING = '([{'
const CLOSING = ')]}'

/**
 * The parameters of a method, as written. A pattern, `{ a, b }`, and a name with other characters than letters, digits and
 * `_` is called by its place: `param1`. None for functions without source, such as bound ones.
 */
export function paramNamesOf(method: (...params: never[]) => unknown): ParamName[] {
	const source = withoutComments(Function.prototype.toString.call(method))
	const head = PARAM_LIST.exec(source)
	if (head === null || NATIVE.test(source)) return []
	const [text, single] = head
	if (single !== undefined) return [paramName(single, 0)]
	const names = splitAt(source, text.length).map(paramName)
	// A parameter before a required one is required too.
	const last = names.findLastIndex(({ optional }) => !optional)
	return names.map((one, at) => (at < last ? { ...one, optional: false } : one))
}

function paramName(text: string, at: number): ParamName {
	// Path templates allow no other letters, and no `$`.
	const [, dots, name] = /^\s*(\.\.\.)?\s*([A-Za-z_]\w*(?![^\s=]))?/.exec(text) ?? []
	const rest = dots !== undefined
	return { name: name ?? `param${at + 1}`, optional: rest || hasDefault(text), rest }
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

/** The parts between commas, from a place up to the parenthesis that closes the list. */
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
