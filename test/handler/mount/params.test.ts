import { runInThisContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { maxParamsOf, paramNamesOf } from '../../../lib/handler/mount/params.ts'
import { cost } from '../../helpers/cost.ts'
import { describe } from '../../helpers/describe.ts'

// These functions are only used as source text, and never called.
class Methods {
	none() {}
	one(a: string) {
		return a
	}
	three(a: string, b: string, c: string) {
		return [a, b, c]
	}
	async waits(a: string, b: string) {
		return [a, b]
	}
	'quoted-name'(a: string) {
		return a
	}
	"it's"(a: string) {
		return a
	}
	async 'quoted async'(a: string) {
		return a
	}
	[`comp${'uted'}`](a: string) {
		return a
	}
	commented(/* { = ... */ a: string /* ) { */, b /* , c */: string) {
		// arguments are not used here; { ( [
		/* nor are arguments here */
		return [a, b]
	}
	slashes(a: string) {
		return `// ${a} '`
	}
	async() {}
	defaults(a = 1) {
		return a
	}
	rest(...a: string[]) {
		return a
	}
	afterOne(a: string, ...b: string[]) {
		return [a, b]
	}
	object({ a }: { a: string }) {
		return a
	}
	array([a]: string[]) {
		return a
	}
	callDefault(a = String(1)) {
		return a
	}
	usesArguments(a: string) {
		// biome-ignore lint/complexity/noArguments: this is what is tested
		return [a, arguments.length]
	}
	saysArguments(a: string) {
		return ['arguments', a]
	}
	*generates(a: string) {
		yield a
	}
	async *streams(a: string) {
		yield a
	}
}

/** A function from source, not rewritten by a compiler. */
function evaluate(source: string): unknown {
	return runInThisContext(source)
}

const methods = Methods.prototype as unknown as Record<string, (...params: never[]) => unknown>

describe('mount/params: number of segments', (test) => {
	const table: [string, number][] = [
		['none', 0],
		['one', 1],
		['three', 3],
		['waits', 2],
		['quoted-name', 1],
		["it's", 1],
		['quoted async', 1],
		['commented', 2],
		['slashes', 1],
		['async', 0],
		['defaults', Number.POSITIVE_INFINITY],
		['rest', Number.POSITIVE_INFINITY],
		['afterOne', Number.POSITIVE_INFINITY],
		['object', Number.POSITIVE_INFINITY],
		['array', Number.POSITIVE_INFINITY],
		['callDefault', Number.POSITIVE_INFINITY],
		['usesArguments', Number.POSITIVE_INFINITY],
		['saysArguments', Number.POSITIVE_INFINITY],
		['generates', 1],
		['streams', 1],
	]
	for (const [name, count] of table) {
		test(`${name} takes ${count}`, () => {
			const method = methods[name]
			assert.type(method, 'function')
			assert.is(maxParamsOf(method as () => unknown), count)
		})
	}

	/** Functions as compilers, minifiers and decorators produce them. */
	const sources: [string, number][] = [
		['({ get_x(a,b,){} }).get_x', 2],
		['({ get_x(\n\ta,\n\tb\n) {} }).get_x', 2],
		['({ async get_x(a) {} }).get_x', 1],
		['({ *get_x(a) {} }).get_x', 1],
		['({ async*get_x(a, b) {} }).get_x', 2],
		['({ async * "get_a-b"(a) {} })["get_a-b"]', 1],
		['({ async *get_x(a = 1) {} }).get_x', Number.POSITIVE_INFINITY],
		['(function* (a) {})', Number.POSITIVE_INFINITY],
		['(async function* get_x(a) {})', Number.POSITIVE_INFINITY],
		['({ async /* { */ get_x /* ( */ (a) /* => */ {} }).get_x', 1],
		['({ get_x(a // , b {\n, c) {} }).get_x', 2],
		['({ "get_a-b"(a) {} })["get_a-b"]', 1],
		["({ ['get_' + 'x'](a) {} }).get_x", 1],
		// biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
		['({ get_x(a) { return `${"`"}` + /[/]/.test(a) } }).get_x', 1],
		['({ get_x(a) { return "an unended // comment" + a } }).get_x', 1],
		['({ get_x(a) {} }).get_x.bind(null)', Number.POSITIVE_INFINITY],
		['new Proxy(({ get_x(a) {} }).get_x, {})', Number.POSITIVE_INFINITY],
		['Array.prototype.map', Number.POSITIVE_INFINITY],
		['(function (a) {})', Number.POSITIVE_INFINITY],
		['(function get_x(a) {})', Number.POSITIVE_INFINITY],
		['((a) => { return a })', Number.POSITIVE_INFINITY],
		['(async (a) => { return a })', Number.POSITIVE_INFINITY],
		['(a => a)', Number.POSITIVE_INFINITY],
		['(class { constructor(a) {} })', Number.POSITIVE_INFINITY],
	]
	for (const [source, count] of sources) {
		test(`${JSON.stringify(source)} takes ${count}`, () => {
			assert.is(maxParamsOf(evaluate(source) as () => unknown), count)
		})
	}

	test('a long method is read in linear time', () => {
		const body = 'const a = "x" // y\n'.replace('const a', 'this.a').repeat(20_000)
		const method = evaluate(`({ get_x(a, b) { ${body} } }).get_x`) as () => unknown
		const time = cost(() => assert.is(maxParamsOf(method), 2))
		assert.ok(time < 2_000, `${time} ms`)
	})
})

/** The methods of a class as its author wrote it: a compiler would change them. */
function methodOf(source: string): (...params: never[]) => unknown {
	const made = new Function(`return class { ${source} }`)() as { prototype: object }
	const [name = ''] = Object.getOwnPropertyNames(made.prototype).filter((one) => one !== 'constructor')
	return Reflect.get(made.prototype, name) as (...params: never[]) => unknown // the only one
}

/** `id`, `id?` if optional, `...ids` for a rest parameter. */
function said(method: (...params: never[]) => unknown): string {
	const names = paramNamesOf(method)
	return names
		.map(({ name, isOptional, isRest }) => (isRest ? `...${name}` : name + (isOptional ? '?' : '')))
		.join(' ')
}

describe('mount/params: names', (test) => {
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

	test('of functions that are not methods', () => {
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
