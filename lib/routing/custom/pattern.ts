/** Parses the key of a custom route, `'GET|POST custom/%s/page-%d'`, at mount. For `custom-routes.ts`. */
import { ROUTE_METHODS, type RouteMethod } from '../../base/http.ts'

/** The kind of a placeholder: `%s` is one or more characters, `%d` a whole number. */
export type Kind = 'text' | 'number'

/** The text between two placeholders, never empty: a list, linked from right to left. */
export interface Infix {
	readonly text: string
	/** The infix before it. */
	readonly left: Infix | undefined
}

/** How a segment with a matching prefix and suffix is split into the values of its placeholders. */
export interface Shape {
	/** Identifies the shape: it encodes all properties below. It never contains `//`, which separates names in a key. */
	readonly name: string
	/** Index of the segment in the path. */
	readonly at: number
	/** Number of characters before the first placeholder. */
	readonly before: number
	/** Number of characters after the last placeholder. */
	readonly after: number
	readonly kinds: readonly Kind[]
	readonly infix: Infix | undefined
}

/** A segment with placeholders: `page-%d.%s` has the prefix `page-`, and no suffix. */
export interface Template {
	readonly text: string
	readonly prefix: string
	readonly suffix: string
	readonly shape: Shape
}

/** One segment of a pattern: a literal, or a template if it has placeholders. */
export type Part = string | Template

/** The segments of a pattern, at least one. */
export type Pattern = readonly Part[]

export interface RouteKey {
	/** In the order written, without duplicates. */
	readonly methods: readonly RouteMethod[]
	readonly pattern: Pattern
	/** The pattern's text, without a leading slash. */
	readonly text: string
}

const ALL: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const CONTROL = /[\0-\x1f\x7f]/
/** Characters that clients don't send in a path: `?` and `#` end it, and `\` is sent as `/`. */
const NO_PATH = /[?#\\]/

/** Placeholders of other libraries: `:id`, `{id}`, `*`. A colon within a word, `articles:batch`, is literal. */
const OTHER_PLACEHOLDER = /(?<![^.-]):[A-Za-z_]\w*|\{[^}]*\}|^\*+\w*/

/** The first placeholder of another library in a segment, which would be literal text here. */
export function otherPlaceholder(segment: string): string | undefined {
	return OTHER_PLACEHOLDER.exec(segment)?.[0]
}

/**
 * Parses `<METHODS> <pattern>`.
 *
 * METHODS is one method, several joined by `|`, or `ALL` (GET POST PUT PATCH DELETE). The pattern is
 * compared with percent-decoded segments: `%s` is text, `%d` a number, `%%` a percent sign, all else
 * is literal. A leading slash is optional.
 *
 * @throws TypeError that names the key, the mistake, and what to write
 */
export function parseRoute(key: string): RouteKey {
	const space = key.indexOf(' ')
	if (space < 1) throw refused(key, "write '<METHODS> <pattern>', such as 'GET|POST articles/%d'")
	const methods = parseMethods(key, key.slice(0, space))
	const text = parseText(key, key.slice(space + 1))
	return { methods, pattern: text.split('/').map((segment, at) => parseSegment(key, segment, at)), text }
}

export function refused(key: string, why: string): TypeError {
	return new TypeError(`customRoutes['${key}']: ${why}`)
}

function parseMethods(key: string, text: string): readonly RouteMethod[] {
	if (text === 'ALL') return ALL
	const methods: RouteMethod[] = []
	for (const word of text.split('|')) {
		const method = ROUTE_METHODS.find((known) => known === word)
		if (method === undefined) throw refused(key, whyNoMethod(word))
		if (methods.includes(method)) throw refused(key, `${method} is written twice: write it once`)
		methods.push(method)
	}
	return methods
}

function whyNoMethod(word: string): string {
	const upper = word.toUpperCase()
	if (upper === 'HEAD') return "HEAD is served by GET's route: write GET"
	if (upper === 'OPTIONS') return 'OPTIONS is answered from the other routes: leave it out'
	if (word === 'ALL') return 'ALL stands alone: write ALL, or each method'
	if (upper === 'ALL' || ROUTE_METHODS.some((known) => known === upper)) {
		return `methods are written in capitals: ${upper}, not ${word}`
	}
	const what = word === '' ? 'a method is missing' : `unknown method ${word}`
	return `${what}: use ${ROUTE_METHODS.join(', ')}, several joined by |, or ALL`
}

function parseText(key: string, text: string): string {
	if (text !== text.trim()) {
		throw refused(key, 'exactly one space stands between methods and pattern, and none after it')
	}
	// A URL with a control character is refused with 400 before routes are tried.
	if (CONTROL.test(text)) throw refused(key, 'URLs with control characters are refused: remove it')
	const [odd] = NO_PATH.exec(text) ?? []
	if (odd !== undefined) {
		throw refused(key, `a pattern may not hold ?, # or \\, which no client sends in a path: remove ${odd}`)
	}
	const path = text.startsWith('/') ? text.slice(1) : text
	if (path === '') throw refused(key, 'the pattern is empty: name at least one segment')
	if (path.endsWith('/')) throw refused(key, 'remove the trailing slash: URLs may have one anyway')
	return path
}

function parseSegment(key: string, text: string, at: number): Part {
	if (text === '') throw refused(key, 'a segment is empty: write one slash between two segments')
	if (text === '.' || text === '..') {
		throw refused(key, `a client resolves the segment ${text} and never sends it: remove it`)
	}
	const other = otherPlaceholder(text)
	if (other !== undefined) {
		throw refused(
			key,
			`${other} would be literal text, not a placeholder: write %s for text, %d for a number`,
		)
	}
	const literals: string[] = []
	const kinds: Kind[] = []
	let literal = ''
	let from = 0
	for (let percent = text.indexOf('%'); percent !== -1; percent = text.indexOf('%', from)) {
		literal += text.slice(from, percent)
		from = percent + 2
		const kind = parsePlaceholder(key, text.slice(percent + 1))
		if (kind === '%') {
			literal += kind
			continue
		}
		if (literal === '' && kinds.length > 0) {
			throw refused(key, `two placeholders touch in ${text}: put text or a slash between them`)
		}
		literals.push(literal)
		kinds.push(kind)
		literal = ''
	}
	const suffix = literal + text.slice(from)
	const [prefix, ...infixes] = literals
	if (prefix === undefined) return suffix
	const name = `${at}/${prefix.length}/${suffix.length}/${kinds.join('/')}/${infixes.join('/')}`
	const infix = infixes.reduce<Infix | undefined>((left, text) => ({ text, left }), undefined)
	return {
		text,
		prefix,
		suffix,
		shape: { name, at, before: prefix.length, after: suffix.length, kinds, infix },
	}
}

function parsePlaceholder(key: string, text: string): Kind | '%' {
	if (text.startsWith('s')) return 'text'
	if (text.startsWith('d')) return 'number'
	if (text.startsWith('%')) return '%'
	const [letter = ''] = text // by code point: a lone surrogate can't be shown
	const hint = 'use %s for text, %d for a number, %% for a percent sign'
	throw refused(key, `unknown placeholder %${letter}: ${hint}`)
}
