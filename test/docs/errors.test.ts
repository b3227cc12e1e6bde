/** The tables of docs/errors.md match the code: the errors of lib/ are read from its source, call by call. */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { ERRORS } from '../../lib/wire/codes.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'
import { rowsOf } from '../helpers/tables.ts'

const PAGE = 'docs/errors.md'

/** What servers run: `testing/` is for adapters, and what is in browsers has codes of its own. */
const sources = readdirSync(`${ROOT}/lib`, { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.ts') && !/^(?:testing|client|explorer)\//.test(name))
	.map((name) => [
		name,
		readFileSync(`${ROOT}/lib/${name}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''),
	])
const text = sources.map(([, code]) => code).join('\n')

/** The source of one file of lib, without its comments. */
function sourceOf(file: string): string {
	return sources.find(([name]) => name === file)?.[1] ?? ''
}

/** The texts in single quotes. */
function quoted(code: string): string[] {
	return [...code.matchAll(/'(\w+)'/g)].map(([, word = '']) => word)
}

/** The names of an object that stands behind `const name`, one on a line. */
function keysOf(file: string, name: string): string[] {
	const [, body = ''] =
		new RegExp(`const ${name}\\b[^{]*= \\{\\n([\\s\\S]*?)\\n\\}`).exec(sourceOf(file)) ?? []
	return [...body.matchAll(/^\t(\w+):/gm)].map(([, key = '']) => key)
}

/** Where a problem gets its code: the argument of the functions that note one, and what is written out. */
const NOTES = [
	/\bnote\(\s*(?:context\.)?problems,\s*([^,]+),/g,
	/\bbadQuery\(\s*[^,()]+,\s*([^,]+),/g,
	/\bdetails\(\s*fields,\s*writable,\s*([^,]+),/g,
	/\bfield(?:: [^,{}]+)?, code: ([^,]+),/g,
]

/** Codes that aren't written where they are noted, by the expression that stands there. */
const ELSEWHERE: Readonly<Record<string, () => string[]>> = {
	// A rule that names a format.
	format: () => keysOf('validate/check.ts', 'FORMATS'),
	// A value that isn't of its column's type; of `other` it is a text.
	"field.type === 'other' ? 'text' : field.type": () =>
		keysOf('crud/value-from-text.ts', 'MESSAGES').filter((type) => type !== 'other'),
	code: () => [
		...quoted(/const code = (plan\.min .*)/.exec(sourceOf('validate/check.ts'))?.[1] ?? ''),
		...unstorable(),
	],
	// One of several records, refused as a whole.
	"code ?? ''": () => [
		...quoted(
			/ABOUT_RECORDS[^=]*= new Set\(\[([\s\S]*?)\]\)/.exec(sourceOf('crud/many/check-list.ts'))?.[1] ?? '',
		),
	],
}

/** What a store refuses to store: the kinds of its errors that are not answered otherwise. */
function unstorable(): string[] {
	const [, kinds = ''] =
		/type ModelErrorKind =([^\n]*\n(?:\t\|.*\n)+)/.exec(sourceOf('models/model-error.ts')) ?? []
	const cases = [...sourceOf('crud/database-errors.ts').matchAll(/case '(\w+)'/g)].map(
		([, kind = '']) => kind,
	)
	const rest = quoted(kinds).filter((kind) => !cases.includes(kind))
	return rest.map((kind) => (kind === 'not_null' ? 'required' : kind))
}

const expressions = NOTES.flatMap((pattern) =>
	[...text.matchAll(pattern)].map(([, code = '']) => code.trim()),
)

describe('docs/errors.md', (test) => {
	test('lists every code with its status', () => {
		assert.equal(
			rowsOf(PAGE, '## Codes').map(([code, status]) => [code, Number(status)]),
			Object.entries(ERRORS).map(([code, { status }]) => [code, status]),
		)
	})

	test('says for each code sent by Verbena when it is sent and what to do; nothing for the others', () => {
		const thrown = new Set(
			[...text.matchAll(/new RestError\(([^),]*)/g)].flatMap(([, code = '']) => quoted(code)),
		)
		// As `kind` of what a store refuses.
		if (/RestError\(kind === 'busy' \? 'unavailable' : kind,/.test(text)) thrown.add('outcome_unknown')
		for (const [code = '', , when, what] of rowsOf(PAGE, '## Codes')) {
			assert.is(when !== '', thrown.has(code), `${code}: ${when}`)
			assert.is(what !== '', thrown.has(code), `${code}: ${what}`)
		}
	})

	test('names only codes from the table in lib', () => {
		const own = [...text.matchAll(/new RestError\(\s*'(\w+)'/g)].map(([, code = '']) => code)
		assert.equal(
			own.filter((code) => !Object.hasOwn(ERRORS, code)),
			[],
		)
		assert.ok(own.length > 50)
	})

	test('lists every code of details, and none that is never used', () => {
		const codes = expressions.flatMap((expression) => ELSEWHERE[expression]?.() ?? quoted(expression))
		const rows = rowsOf(PAGE, '## Details').flatMap(([code = '']) => code.split(', '))
		assert.equal(rows.toSorted(), [...new Set(codes)].sort())
	})

	test('every code used indirectly is known to this test', () => {
		const written = /^(?:[\w.]+ \? )?'\w+'(?: : '\w+')?$/
		const parameter = 'code: string'
		const others = expressions.filter((one) => !written.test(one) && !(one in ELSEWHERE) && one !== parameter)
		assert.equal(others, [])
		for (const [expression, codes] of Object.entries(ELSEWHERE)) {
			assert.ok(expressions.includes(expression), expression)
			assert.ok(codes().length >= 5, `${expression}: ${codes()}`)
		}
	})

	test('the README lists them all, with their status', () => {
		const pairs = rowsOf('README.md', '## Errors').flatMap(
			([status = '', code = '', status2 = '', code2 = '']) => [
				[status, code] as const,
				[status2, code2] as const,
			],
		)
		for (const [code, { status }] of Object.entries(ERRORS)) {
			const cells = pairs.filter(([, codes]) => new RegExp(`\\b${code}\\b`).test(codes))
			assert.is(cells.length, 1, code)
			assert.ok(cells[0]?.[0].split(', ').includes(String(status)), `${code}: ${status}`)
		}
		const told = pairs.flatMap(([statuses]) => statuses.split(', '))
		assert.equal(
			told.toSorted(),
			[...new Set(Object.values(ERRORS).map(({ status }) => String(status)))].sort(),
		)
	})

	test("lists the client's codes", () => {
		const client = readFileSync(`${ROOT}/lib/client/answer.ts`, 'utf8')
		const [, union = ''] = /readonly code: ErrorCode \| (.*) \| \(string & \{\}\)/.exec(client) ?? []
		const page = readFileSync(`${ROOT}/${PAGE}`, 'utf8')
		const [, section = ''] = page.split('\n## Codes of the client\n')
		assert.equal(quoted(union), ['network_error', 'unexpected_answer'])
		for (const code of quoted(union)) assert.ok(section.includes(`\`${code}\``), code)
	})
})
