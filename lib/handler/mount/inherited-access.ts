/** A warning for a class whose `access` drops the `'*'` of the class that it extends: then its other methods are open. */
import { withoutComments } from './plain-params.ts'

/** `access = {`, as the language has fields, and as compilers for older targets write them. */
const ACCESS = /(?:^|[\s;{},('"[.])access\b(?:['"]?\])?\s*(?:=|['"]\s*,)\s*(?:[\w$.]+\(\s*)?\{/g
const STAR = /(?:^|[,{\s])(?:'\*'|"\*"|\['\*'\]|\["\*"\])\s*:/

/**
 * What to tell of a handler; `undefined` where there is nothing.
 *
 * A field replaces that of the class above, and what that was can't be asked of an instance: its source is read, once, at
 * mount. Where it doesn't say, nothing is told.
 *
 * @param top the class whose own `access` means nothing
 */
export function droppedStar(handler: { readonly access: object }, top: object): string | undefined {
	if (Object.hasOwn(handler.access, '*')) return undefined
	const own: object = Object.getPrototypeOf(handler)
	for (
		let at: object | null = Object.getPrototypeOf(own);
		at !== null && at !== top;
		at = Object.getPrototypeOf(at)
	) {
		const above: unknown = at.constructor
		if (!declaresStar(above)) continue
		return `${own.constructor.name}.access replaces that of ${at.constructor.name}, which has '*': methods that it doesn't name are open to anyone. Say "'*': 'user'" there, or "'*': 'anyone'" where that is meant`
	}
	return undefined
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

/** Behind the `}` of an object literal that began before a place. */
function endOf(source: string, begin: number): number {
	let depth = 1
	for (let at = begin; at < source.length; at++) {
		if (source[at] === '{') depth++
		else if (source[at] === '}' && --depth === 0) return at + 1
	}
	return source.length
}
