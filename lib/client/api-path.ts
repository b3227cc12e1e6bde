/** Path and query of a typed call: of a resource and its params, or of a custom route's pattern. */
import { idSegment } from './address.ts'
import { jsonScalar } from './conditions.ts'
import type { QueryFields } from './route-types.ts'

/**
 * What stands behind the endpoint, each param within one segment.
 *
 *     pathOf('article', ['5'])                       // '/article/5'
 *     pathOf('_default', ['a/b'])                    // '/a%2Fb'
 *     pathOf('custom/%s/page-%d', ['lawns', 3])      // '/custom/lawns/page-3'
 *
 * @param call what it is called by, in errors: `api.get.article`
 * @throws TypeError for params that can't be in a path, and for more or fewer of them than placeholders
 */
export function pathOf(call: string, name: string, params: readonly unknown[]): string {
	const gap = params.indexOf(undefined)
	// Without it, this would be another path: DELETE /article for DELETE /article/5.
	if (gap !== -1) throw new TypeError(`${call}: argument ${gap + 1} is undefined`)
	return segmentsOf(call, name, params)
		.map((segment) => `/${idSegment(segment)}`)
		.join('')
}

function segmentsOf(call: string, name: string, params: readonly unknown[]): readonly unknown[] {
	if (/[/%]/.test(name)) return filled(call, name, params)
	return name === '_default' ? params : [name, ...params]
}

/** The segments of a pattern, whose placeholders are filled with what the server takes for them. */
function filled(call: string, pattern: string, params: readonly unknown[]): string[] {
	let at = 0
	const fill = (placeholder: string): string => {
		if (placeholder === '%%') return '%'
		const [fits, what] = PLACEHOLDERS[placeholder === '%d' ? placeholder : '%s']
		const param = params[at++]
		if (fits(param)) return String(param)
		throw new TypeError(`${call}: argument ${at} stands for ${placeholder}, ${what}`)
	}
	const segments = pattern
		.replace(/^\//, '')
		.split('/')
		.map((segment) => segment.replace(/%[sd%]/g, fill))
	if (at === params.length) return segments
	throw new TypeError(`${call} has ${at} in its path, got ${params.length} params`)
}

const PLACEHOLDERS = {
	'%d': [
		(param: unknown) => /^-?\d+$/.test(String(param)) && Number.isSafeInteger(Number(param)),
		'a whole number within ±2^53',
	],
	// Of a segment that is nothing else, `idSegment` says what else it can't be.
	'%s': [
		(param: unknown) =>
			param !== '' && (/^(?:string|bigint)$/.test(typeof param) || Number.isSafeInteger(param)),
		'a text',
	],
} as const

/**
 * The parameters of a URL: `?q=tea&tag=a&tag=b`.
 *
 * @throws TypeError for values that are no texts, numbers, booleans or dates
 */
export function searchOf(call: string, query: QueryFields): string {
	const parameters = new URLSearchParams()
	for (const [name, values] of Object.entries(query))
		for (const value of [values].flat()) {
			if (value === undefined) continue
			const sent = jsonScalar(value)
			// URLs are UTF-8, which has no lone surrogates.
			if (!/^(?:string|number|boolean)$/.test(typeof sent) || /\p{Surrogate}/u.test(String(sent)))
				throw new TypeError(
					`${call}: query.${name} must be a text, number, boolean, date or an array of these`,
				)
			parameters.append(name, String(sent))
		}
	return parameters.size === 0 ? '' : `?${parameters}`
}
