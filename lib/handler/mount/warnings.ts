/**
 * Warnings at mount about likely mistakes, logged by `controller.ts`:
 * - methods that look like routes but aren't (`getArticle`, `GET_article`, `fetch_article`, `get`), so their URLs are 404
 * - an `access` without the `'*'` that the parent class's has, so that anyone may call the methods it doesn't name
 * - built-in actions that change records and have no access rule, although there is an authenticator
 */
import { type OwnAction, prototypesOf } from './methods.ts'
import { withoutComments } from './params.ts'

/** A method, and the route name that was probably meant. */
export interface NearMiss {
	readonly name: string
	readonly meant: string
}

const VERBS = {
	get: ['get', 'fetch', 'read', 'list', 'show', 'find', 'load', 'index', 'head'],
	post: ['post', 'create', 'add', 'insert', 'new', 'store'],
	put: ['put', 'replace'],
	patch: ['patch', 'update', 'edit', 'modify', 'change'],
	delete: ['delete', 'remove', 'del', 'destroy'],
	query: ['query', 'search'],
}
const METHODS: ReadonlyMap<string, string> = new Map(
	Object.entries(VERBS).flatMap(([method, verbs]) => verbs.map((verb) => [verb, method])),
)

/**
 * Near misses of a handler's own class. Members of RestHandler, targets of custom routes, and helpers, which are methods
 * that the class itself calls, are left out.
 *
 * @param base the prototype of the class that all handlers extend
 */
export function nearMissesOf(handler: object, base: object, targets: Iterable<unknown>): NearMiss[] {
	const prototypes = prototypesOf(handler, base)
	const [own] = prototypes
	if (own === undefined) return []
	const routes = new Set<unknown>(targets)
	const source = prototypes.map((proto) => Function.prototype.toString.call(proto.constructor)).join('\n')
	const misses: NearMiss[] = []
	for (const [name, slot] of Object.entries(Object.getOwnPropertyDescriptors(own))) {
		// `post()` and `query()` are members of RestHandler too, but overriding them is a mistake.
		const isKnown = name in base && !ROUTE_WORD.test(name)
		if (typeof slot.value !== 'function' || isKnown || routes.has(name)) continue
		const meant = meantBy(name)
		if (meant !== undefined && !isCalled(name, source)) misses.push({ name, meant })
	}
	return misses
}

function meantBy(name: string): string | undefined {
	const whole = METHODS.get(name.toLowerCase())
	// `list()` and `read()` are methods of CrudHandler; `get()` and `post()` mean nothing.
	if (whole !== undefined) return ROUTE_WORD.test(name) ? `${whole}__default` : undefined
	const [, camel = '', rest = ''] = /^([a-z]+)([A-Z]\w*)$/.exec(name) ?? []
	// Only HTTP methods in camelCase: `readFile` and `addDays` are common helpers.
	if (ROUTE_WORD.test(camel)) return `${camel}_${snake(rest)}`
	const [, word = '', resource = ''] = /^([A-Za-z]+)_(.*[A-Za-z0-9])$/.exec(name) ?? []
	const method = METHODS.get(word.toLowerCase())
	const meant = `${method}_${resource}`
	return method === undefined || meant === name ? undefined : meant
}

const ROUTE_WORD = /^(?:get|post|put|patch|delete|query)$/i

/** `BlogPost` as `blog_post`, `HTMLPage` as `html_page`. */
function snake(name: string): string {
	return name
		.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
		.replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
		.toLowerCase()
}

/** Whether the source has a method's name after a dot or in brackets: `this.getArticle(id)`. */
function isCalled(name: string, source: string): boolean {
	const escaped = name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
	return new RegExp(`(?:[.]|\\[['"\`])${escaped}(?![\\w$])`).test(source)
}

export function nearMissText(owner: string, { name, meant }: NearMiss): string {
	return `${owner}.${name}() answers no request, and nothing in ${owner} calls it: did you mean ${meant}()? Give a helper another name, such as a verb that isn't an HTTP method, or write it as a function beside the class`
}

export function noRoute(owner: string, misses: readonly NearMiss[], hasAllow: boolean): TypeError {
	const [miss] = misses
	const method = 'name a method get_something(), or declare customRoutes'
	const hint =
		miss === undefined
			? `${hasAllow ? 'allow names no operation: name one, or ' : ''}${method}`
			: `did you mean ${miss.meant}() where it has ${miss.name}()?`
	return new TypeError(`${owner} has no routes, so every request to it would be 404: ${hint}`)
}

/** `access = {`, as a field, and as compilers for older targets emit it. */
const ACCESS = /(?:^|[\s;{},('"[.])access\b(?:['"]?\])?\s*(?:=|['"]\s*,)\s*(?:[\w$.]+\(\s*)?\{/g
const STAR = /(?:^|[,{\s])(?:'\*'|"\*"|\['\*'\]|\["\*"\])\s*:/

/**
 * The warning about a handler whose `access` drops an inherited `'*'`. The parent's field is read from the source of
 * its class, because the subclass's field has replaced it on the instance.
 *
 * @param base the prototype of RestHandler
 */
export function droppedStar(handler: { readonly access: object }, base: object): string | undefined {
	if (Object.hasOwn(handler.access, '*')) return undefined
	const [own, ...parents] = prototypesOf(handler, base)
	const parent = parents.find((proto) => declaresStar(proto.constructor))
	if (own === undefined || parent === undefined) return undefined
	return `${own.constructor.name}.access replaces that of ${parent.constructor.name}, which has '*': methods that it doesn't name are open to anyone. Say "'*': 'user'" there, or "'*': 'anyone'" where that is meant`
}

function declaresStar(type: unknown): boolean {
	if (typeof type !== 'function') return false
	const source = withoutComments(Function.prototype.toString.call(type))
	for (const { index, 0: found } of source.matchAll(ACCESS)) {
		const begin = index + found.length
		if (STAR.test(source.slice(begin - 1, endOf(source, begin)))) return true
	}
	return false
}

/** The end of the object literal that begins before a position. */
function endOf(source: string, begin: number): number {
	let depth = 1
	for (let at = begin; at < source.length; at++) {
		if (source[at] === '{') depth++
		else if (source[at] === '}' && --depth === 0) return at + 1
	}
	return source.length
}

/** The built-in actions that let anyone change something, though no declaration says that this is intended. */
export function openActions(handler: { readonly access: object }, actions: readonly OwnAction[]): string[] {
	const hasRule = (name: string | undefined) => name !== undefined && Object.hasOwn(handler.access, name)
	const open = actions.filter(
		({ name, accessOf, methods, isDecided = false }) =>
			!isDecided &&
			methods.some((method) => method !== 'GET' && method !== 'QUERY') &&
			![name, accessOf, '*'].some(hasRule),
	)
	return [...new Set(open.map(({ name }) => name))]
}

export function openText(label: string, names: readonly string[]): string {
	return `${label} has an authenticator, and anyone may use ${names.join(', ')}: declare access = { '*': 'user' }, or 'anyone' where that is meant`
}
