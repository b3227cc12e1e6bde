import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { decodeJson } from '../../../lib/request/body/json.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { milliseconds, refusalText, valueOrRefusal } from './refusal.ts'

function decode(text: string): unknown {
	return decodeJson(Buffer.from(text))
}

/** A text of `levels` arrays and objects in turn, each in the one before. */
function nested(levels: number): string {
	let text = '1'
	for (let level = 0; level < levels; level++) text = level % 2 === 0 ? `[${text}]` : `{"a":${text}}`
	return text
}

/** What is refused, looked for everywhere. */
function isReserved(value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false
	if (Object.hasOwn(value, '__proto__')) return true
	const inner: unknown = Object.hasOwn(value, 'constructor') ? Reflect.get(value, 'constructor') : undefined
	if (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')) return true
	return Object.values(value).some(isReserved)
}

const TOO_DEEP = '400 The JSON is nested too deeply: there may be 64 levels'
const PROTO = '400 The JSON has a key __proto__, which is reserved: leave it out'
const CONSTRUCTOR = '400 The JSON has a key constructor.prototype, which is reserved: leave it out'

describe('body/json: values', (test) => {
	const values: [string, unknown][] = [
		['{"title":"A","n":[1,2.5,-3e2,null,true,false]}', { title: 'A', n: [1, 2.5, -300, null, true, false] }],
		['\uFEFF{"a":1}', { a: 1 }],
		[' \t\r\n"x" ', 'x'],
		['"é 漢字 🌱 \uFFFD"', 'é 漢字 🌱 \uFFFD'],
		['{"a":1,"a":2}', { a: 2 }],
		['{"constructor":"Bauhaus"}', { constructor: 'Bauhaus' }],
		['{"constructor":{"name":"x"},"prototype":{}}', { constructor: { name: 'x' }, prototype: {} }],
		['{"constructor":null,"protocol":"http"}', { constructor: null, protocol: 'http' }],
		['["__proto__","\\u005f_proto__"]', ['__proto__', '__proto__']],
		['null', null],
		['0', 0],
	]
	for (const [text, expected] of values) {
		test(`${JSON.stringify(text)} is decoded`, () => deepStrictEqual(decode(text), expected))
	}

	test('64 levels are accepted', () => assert.equal(decode(nested(64)), JSON.parse(nested(64))))

	test('brackets in strings, and siblings, are no levels', () => {
		const text = JSON.stringify({ text: '[{'.repeat(500), list: Array(200).fill({ a: [1] }) })
		deepStrictEqual(decode(text), JSON.parse(text))
	})

	test('the result is that of JSON.parse', () => {
		const json = fc.json({ maxDepth: 5 }).filter((text) => !text.includes('proto'))
		fc.assert(fc.property(json, (text) => deepStrictEqual(decode(text), JSON.parse(text))))
	})

	test('a key the program has added to Object.prototype is not taken for one of the body', () => {
		const added: Record<string, unknown> = {}
		added.added = added
		Object.defineProperty(Object.prototype, 'added', { value: added, enumerable: true, configurable: true })
		try {
			assert.is(JSON.stringify(decode('{"proto":{"a":1}}')), '{"proto":{"a":1}}')
		} finally {
			Reflect.deleteProperty(Object.prototype, 'added')
		}
	})
})

describe('body/json: refusals', (test) => {
	const refusals: [string, string][] = [
		['', '400 The body is empty, but its Content-Type says JSON'],
		['\uFEFF', '400 The body is empty, but its Content-Type says JSON'],
		['{"a":}', '400 The body is malformed JSON at line 1, column 6: expected a value'],
		[
			'{\n\t"a": 1,\n}',
			'400 The body is malformed JSON at line 3, column 1: expected a key in double quotes',
		],
		['\uFEFF[1', '400 The body is malformed JSON at line 1, column 3, where it ends: expected , or ]'],
		['{"__proto__":{}}', PROTO],
		['{"a":[{"__proto__":1}]}', PROTO],
		['{"\\u005f\\u005fproto__":1}', PROTO],
		['{"__prot\\u006f__":1}', PROTO],
		['{"constructor":{"prototype":{"a":1}}}', CONSTRUCTOR],
		['[{"c\\u006fnstructor":{"\\u0070rototype":1}}]', CONSTRUCTOR],
		['{"constructor":{"prot\\u006ftype":null}}', CONSTRUCTOR],
		[nested(65), TOO_DEEP],
		[`{"a":${JSON.stringify('[')},"b":${'['.repeat(64)}${']'.repeat(64)}}`, TOO_DEEP],
		[`${'['.repeat(100_000)}${']'.repeat(100_000)}`, TOO_DEEP],
		[`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, TOO_DEEP],
		[
			'['.repeat(100_000),
			'400 The body is malformed JSON at line 1, column 100001, where it ends: expected a value or ]',
		],
	]
	for (const [text, expected] of refusals) {
		test(`${JSON.stringify(text.slice(0, 40))} is refused`, () =>
			assert.is(
				refusalText(() => decode(text)),
				expected,
			))
	}

	test('a reserved key is refused at any place and with any spacing, and no other is', () => {
		const key = fc.constantFrom('a', 'proto', 'prototype', 'constructor', '__proto__')
		const { value } = fc.letrec((tie) => ({
			value: fc.oneof({ depthSize: 'large' }, fc.constant('"prototype"'), tie('list'), tie('object')),
			list: fc.array(tie('value'), { maxLength: 2 }).map((items) => `[ ${items.join(',')}]`),
			object: fc
				.tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 2 }), fc.constantFrom('', ' ', '\n\t'))
				.map(([pairs, space]) => `{${pairs.map(([k, v]) => `"${k}"${space}:${space}${v}`).join(',')}}`),
		}))
		fc.assert(
			fc.property(value.map(String), (text) => {
				const refused = valueOrRefusal(() => decode(text)) === undefined
				assert.is(refused, isReserved(JSON.parse(text)), text)
			}),
			{ numRuns: trials(1_000) },
		)
	})

	test('bytes that are not UTF-8 are refused, though JSON.parse would accept what they decode to', () => {
		const bytes = Buffer.from([0x22, 0x61, 0xe9, 0x22])
		assert.is(
			refusalText(() => decodeJson(bytes)),
			'400 The body is not UTF-8 at byte 2',
		)
	})

	test('a message never quotes the body', () => {
		for (const text of [
			'{"secret":hunter2}',
			'["hunter2]',
			'{"hunter2" 1}',
			'hunter2',
			'{"a":"hunter2\n"}',
		]) {
			assert.not.match(
				refusalText(() => decode(text)),
				'hunter2',
			)
		}
	})

	test('any bytes are a value or a refusal', () => {
		fc.assert(
			fc.property(
				fc.uint8Array({ maxLength: 200 }),
				(bytes) => void valueOrRefusal(() => decodeJson(Buffer.from(bytes))),
			),
		)
		fc.assert(fc.property(fc.string({ unit: CODE_POINT }), (text) => void valueOrRefusal(() => decode(text))))
	})

	test('a megabyte of brackets is refused quickly', () => {
		const bytes = Buffer.from(`${'['.repeat(500_000)}${']'.repeat(500_000)}`)
		assert.ok(milliseconds(() => valueOrRefusal(() => decodeJson(bytes))) < 2_000)
	})
})
