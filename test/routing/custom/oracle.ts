/** A slow, obviously correct matcher of custom routes, and generators of routes and paths that often match. */
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { RouteTable } from '../../../lib/routing/custom/custom-routes.ts'

type Values = (string | number)[]

/** All that a template's text takes of a segment: each placeholder tries the longest first. */
function take(template: string, segment: string): Values | undefined {
	if (template === '') return segment === '' ? [] : undefined
	const two = template.slice(0, 2)
	if (two === '%s' || two === '%d') {
		for (let end = segment.length; end > 0; end--) {
			const text = segment.slice(0, end)
			if (two === '%d' && !isNumber(text)) continue
			const rest = take(template.slice(2), segment.slice(end))
			if (rest) return [two === '%d' ? Number(text) + 0 : text, ...rest]
		}
		return undefined
	}
	const literal = two === '%%' ? '%' : template.slice(0, 1)
	return segment.startsWith(literal)
		? take(template.slice(two === '%%' ? 2 : 1), segment.slice(1))
		: undefined
}

function isNumber(text: string): boolean {
	return /^-?[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))
}

function takePath(pattern: string, segments: readonly string[]): Values | undefined {
	const templates = pattern.split('/')
	if (templates.length !== segments.length) return undefined
	const values: Values = []
	for (const [at, template] of templates.entries()) {
		const taken = take(template, segments[at] ?? '')
		if (!taken) return undefined
		values.push(...taken)
	}
	return values
}

/** The first route of a list that matches, by trying each. */
function slow(keys: readonly string[], method: string, segments: readonly string[]): unknown {
	for (const key of keys) {
		const [methods = '', pattern = ''] = key.split(' ')
		const all = methods === 'ALL' && method !== 'QUERY'
		if (!all && !methods.split('|').includes(method)) continue
		const params = takePath(pattern, segments)
		if (params) return { value: key, params }
	}
	return undefined
}

const literal = fc.constantFrom('a', 'a', 'aa', 'ab', '-', '-', '-a-', '0', '%%')
const placeholder = fc.constantFrom('%s', '%s', '%d')
const complex = fc
	.tuple(
		fc.array(fc.tuple(literal, placeholder), { maxLength: 3, size: 'small' }),
		fc.option(literal, { nil: '' }),
		fc.boolean(),
	)
	.map(([pairs, end, open]) => {
		const text = pairs.flat().join('') + end
		return open && pairs.length > 0 ? text.slice(pairs[0]?.[0].length) : text
	})
	.filter((text) => text !== '' && text !== '.')
/** Simple templates come more often: most segments fit several of them. */
const simple = fc.constantFrom('a', 'a-a', '%s', '%d', '%s-%s', 'a%s', '%sa', 'a-%d', '%s-%d', '%d-%s')
const template = fc.oneof({ weight: 3, arbitrary: simple }, { weight: 2, arbitrary: complex })
const methods = fc.constantFrom('GET', 'POST', 'GET|POST', 'ALL', 'QUERY')
const key = fc
	.tuple(methods, fc.array(template, { minLength: 1, maxLength: 3 }))
	.map(([names, templates]) => `${names} ${templates.join('/')}`)
const piece = fc.constantFrom(
	'a',
	'b',
	'ab',
	'-',
	'-a-',
	'.',
	'0',
	'1',
	'12',
	'9007199254740993',
	'%',
	'é',
	'',
)
const segment = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))

const filling = fc.array(fc.oneof(fc.constantFrom('a', '7', '-5', 'a-b', '00'), segment), {
	minLength: 3,
	maxLength: 3,
})

/** A path that a key's pattern matches, where what fills its placeholders fits them. */
function filled(key: string, values: readonly string[]): string[] {
	let at = 0
	const fill = (found: string): string => (found === '%%' ? '%' : (values[at++ % values.length] ?? ''))
	const [, pattern = ''] = key.split(' ')
	return pattern.split('/').map((text) => text.replace(/%[sd%]/g, fill))
}

/** A set of routes, and a path: one made of a route, or of anything. */
export const cases: fc.Arbitrary<[string[], string[]]> = fc
	.tuple(
		fc.array(key, { minLength: 1, maxLength: 30 }),
		fc.nat(),
		filling,
		fc.option(fc.array(segment, { minLength: 1, maxLength: 3 }), { freq: 1, nil: undefined }),
	)
	.map(([keys, chosen, values, path]) => [keys, path ?? filled(keys[chosen % keys.length] ?? '', values)])

/** Fails where a table answers otherwise than trying each route in turn. */
export function agrees(keys: readonly string[], segments: readonly string[]): void {
	const table = new RouteTable<string>()
	const added: string[] = []
	for (const key of keys) {
		try {
			table.add(key, key)
			added.push(key)
		} catch (error) {
			assert.match((error as Error).message, 'already')
		}
	}
	for (const method of ['GET', 'POST', 'DELETE', 'QUERY'] as const) {
		assert.equal(table.match(method, segments), slow(added, method, segments))
	}
	const known = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'].filter((name) =>
		slow(added, name, segments),
	)
	assert.equal(table.methodsFor(segments), known)
}
