/** What `client()` costs the compiler, and so the editor: a class with 200 methods, and a program that calls each. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, run } from '../helpers/program.ts'

const METHODS = 200
const VERBS = ['get', 'post', 'put', 'patch', 'delete']

const SETTINGS = {
	extends: `${ROOT}/tsconfig.json`,
	compilerOptions: { typeRoots: [`${ROOT}/node_modules/@types`], rewriteRelativeImportExtensions: false },
	include: ['*.mts'],
	exclude: [],
}

const numbers = Array.from({ length: METHODS }, (_, at) => at)

function verbOf(at: number): string {
	return VERBS[at % VERBS.length] ?? 'get'
}

/** A typical handler: a record for each method, a spec for each write, a custom route for each 10th. */
function handler(): string {
	const records = numbers.map(
		(at) => `export interface Record${at} {
	id: number; title: string; written: Date; tags: readonly string[]; state: 'draft' | 'published' | null
	author: { name: string; joined: Date; links?: { url: string; seen: Date | undefined }[] }
	parent?: Record${at}; field${at}: number | undefined
}`,
	)
	const specs = numbers.map(
		(at) =>
			`		${verbOf(at)}_record${at}: { title: ['required', 'string', { max: ${at} }], age: ['integer', { default: 0 }], tags: [{ of: ['string'] }] },`,
	)
	const routes = numbers
		.filter((at) => at % 10 === 0)
		.map((at) => `		'GET|POST custom${at}/%s/page-%d': 'page${at}',`)
	const methods = numbers.map((at) =>
		at % 10 === 0
			? `	page${at}(name: string, number: number) { return { name, number, at: new Date(${at}) } }`
			: `	async ${verbOf(at)}_record${at}(id: string): Promise<Record${at} | Refused> { return this.error(id, 404) }`,
	)
	return `import { RestHandler, type Refused } from '${ROOT}/lib/index.ts'
${records.join('\n')}
export class Big extends RestHandler {
	override customRoutes = {
${routes.join('\n')}
	} as const
	override specs = {
${specs.join('\n')}
	} as const
${methods.join('\n')}
}
`
}

/** Every call, with its result's type used. */
function calls(): string {
	const lines = numbers.map((at) => {
		if (at % 10 === 0) return `	;(await api.get['custom${at}/%s/page-%d']('a', ${at})).at satisfies string`
		const option = verbOf(at) === 'get' ? 'query' : 'body'
		return `	;(await api.${verbOf(at)}.record${at}('5', { ${option}: { title: 'a', tags: ['b'] } })).author.joined satisfies string`
	})
	return `import { client } from '${ROOT}/lib/client/index.ts'
import type { Big } from './handler.mts'
export async function all() {
	const api = client<Big>('/big')
${lines.join('\n')}
}
`
}

/** The same without a client: the methods themselves are called, and their results used. */
function direct(): string {
	const lines = numbers.map((at) => {
		if (at % 10 === 0) return `	big.page${at}('a', ${at}).at satisfies Date`
		return `	const r${at} = await big.${verbOf(at)}_record${at}('5')
	if ('author' in r${at}) r${at}.author.joined satisfies Date`
	})
	return `import { CrudClient } from '${ROOT}/lib/client/index.ts'
import type { Big } from './handler.mts'
export async function all(big: Big) {
${lines.join('\n')}
	return CrudClient
}
`
}

interface Cost {
	readonly types: number
	readonly instantiations: number
	readonly seconds: number
}

async function costOf(folder: string): Promise<Cost> {
	const { code, output } = await run({
		args: [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', folder, '--extendedDiagnostics'],
		cwd: folder,
	})
	assert.is(code, 0, output)
	const figure = (name: string) => Number(new RegExp(`^${name}: +([\\d.]+)`, 'm').exec(output)?.[1])
	return {
		types: figure('Types'),
		instantiations: figure('Instantiations'),
		seconds: figure('Check time'),
	}
}

describe('client(): the compiler', (test) => {
	test('checks 200 methods and 200 calls in about twice the time of none', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'verbena-api-speed-'))
		try {
			writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(SETTINGS))
			writeFileSync(`${folder}/handler.mts`, handler())
			const costs = async (program: string) => {
				writeFileSync(`${folder}/program.mts`, program)
				return costOf(folder)
			}
			let [before, after] = [await costs(direct()), await costs(calls())]
			// Of whatever else this machine does now, both should have their part; so both are looked at more than once: what
			// slows it down may have begun between them, and stay.
			for (let round = 0; round < 3 && after.seconds >= 6 * before.seconds; round++)
				[before, after] = [await costs(direct()), await costs(calls())]
			// Measured: 78,000 and 313,000, which are 1,200 a call; 0.6 s and 1.1 s.
			const perCall = (after.instantiations - before.instantiations) / METHODS
			assert.ok(perCall > 100 && perCall < 1_500, `${perCall} instantiations a call`)
			assert.ok(after.types < 2 * before.types, `${before.types} types became ${after.types}`)
			assert.ok(after.seconds < 6 * before.seconds, `${before.seconds} s became ${after.seconds} s`)
		} finally {
			rmSync(folder, { recursive: true, force: true })
		}
	})
})
