import * as assert from 'uvu/assert'
import { paramNamesOf } from '../../../lib/handler/mount/param-names.ts'
import { describe } from '../../helpers/describe.ts'

/** The methods of a class as somebody has written it: what a compiler makes of it would be others. */
function methodOf(source: string): (...params: never[]) => unknown {
	const made = new Function(`return class { ${source} }`)() as { prototype: object }
	const [name = ''] = Object.getOwnPropertyNames(made.prototype).filter((one) => one !== 'constructor')
	return Reflect.get(made.prototype, name) as (...params: never[]) => unknown // the only one
}

/** `id`, `id?` where it may be left out, `...ids` for a rest. */
function said(method: (...params: never[]) => unknown): string {
	const names = paramNamesOf(method)
	return names
		.map(({ name, optional, rest }) => (rest ? `...${name}` : name + (optional ? '?' : '')))
		.join(' ')
}

describe('names of parameters', (test) => {
	const table: [string, string][] = [
		['get_a() {}', ''],
		['get_a(id) {}', 'id'],
		['async get_a(id, page, _x1) {}', 'id page _x1'],
		['get_a($id, id$) {}', 'param1 param2'],
		['*get_a(id) {}', 'id'],
		['async *get_a(id) {}', 'id'],
		["'get_a'(id) {}", 'id'],
		["['get_' + ('a')](id) {}", 'id'],
		['get_a(name = "you") {}', 'name?'],
		['get_a(a, b = 1, c = 2) {}', 'a b? c?'],
		['get_a(a = 1, b) {}', 'a b'],
		['get_a(...words) {}', '...words'],
		['get_a(id, ...words) {}', 'id ...words'],
		['get_a({ a, b }, [c, d] = []) {}', 'param1 param2?'],
		['get_a({ a = 1 }) {}', 'param1'],
		['get_a(id = f(")", [1, 2], { a: "," }), b = `,)`) {}', 'id? b?'],
		['get_a(/* the (first, */ id, // and )\n page) {}', 'id page'],
		['get_a(id,) {}', 'id'],
		['get_a(\n\tid,\n\tpage,\n) {}', 'id page'],
		['get_a(größe) {}', 'param1'],
		['get_a(id) { return "[native code]" }', 'id'],
	]
	for (const [source, expected] of table) {
		test(source.replaceAll(/\s+/g, ' '), () => assert.is(said(methodOf(source)), expected))
	}

	test('of functions that are no methods', () => {
		assert.is(
			said((id: string, page = 1) => [id, page]),
			'id page?',
		)
		assert.is(said(new Function('return id => f(id)')() as () => void), 'id')
		assert.is(said(new Function('return async id => f(id)')() as () => void), 'id')
		assert.is(said(new Function('return function (a, b) {}')() as () => void), 'a b')
		assert.is(said(new Function('return async function* named(a) {}')() as () => void), 'a')
	})

	test('are unknown of bound and native functions', () => {
		assert.is(said(((id: string) => id).bind(null)), '')
		assert.is(said(Array.prototype.slice), '')
	})
})
