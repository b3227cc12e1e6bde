/** How many path segments a method takes, read from its source once, at mount. */

/**
 * `name(a, b) {`, `async name(a) {`, and names in quotes; comments are gone already. Not `function (a) {`,
 * which wraps something else, nor `function () { [native code] }`, which is what bound ones look like.
 */
const HEAD = /^\s*(?:async\b\s*)?(?!function\b)(?:[\w$]+|'[^']*'|"[^"]*"|\[[^\]]*\])\s*\(([^()]*)\)\s*\{/

/**
 * The number of parameters of a method that declares only plain ones, so that a longer path is 404.
 * `Infinity` for every other: defaults, rest, destructuring, `arguments`, wrapped and bound functions.
 */
export function maxParamsOf(method: (...params: never[]) => unknown): number {
	const source = withoutComments(Function.prototype.toString.call(method))
	const head = HEAD.exec(source)
	const list = head?.[1]?.trim()
	if (list === undefined || /[=.{[]/.test(list) || source.includes('arguments'))
		return Number.POSITIVE_INFINITY
	if (list === '') return 0
	return list.split(',').filter((name) => name.trim() !== '').length
}

/**
 * Blanks comments out, in one pass. Text in strings is kept, so that `'//'` begins no comment; a regular
 * expression with a quote in it may hide a comment, which at most leaves the word `arguments` standing.
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

/** Behind the text in quotes that begins at a place; `undefined` where none does. */
export function stringEnd(source: string, at: number): number | undefined {
	const quote = source[at]
	if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
	let end = at + 1
	while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1
	return end + 1
}
