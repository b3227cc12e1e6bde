/** The code blocks of the documentation, and a folder in which its programs compile and run. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { selfSigned } from '../helpers/certificate.ts'
import { ROOT } from '../helpers/program.ts'
import { REDIS_PORT } from '../helpers/redis.ts'
import { elsewhere } from '../helpers/session.ts'
import { PAGE as TUTORIAL } from './tutorial/page.ts'

export interface Block {
	readonly page: string
	/** Line of its first fence. */
	readonly line: number
	readonly kind: string
	readonly code: string
}

/** A program of the documentation, and the blocks that say what it does. */
export interface Program {
	readonly block: Block
	readonly says: Block[]
	readonly file: string
}

export const pages = [
	...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
	...readdirSync(`${ROOT}/docs`)
		.filter((name) => name.endsWith('.md'))
		.map((name) => `docs/${name}`),
]

export function textOf(page: string): string {
	return readFileSync(`${ROOT}/${page}`, 'utf8')
}

export function blocksOf(page: string): Block[] {
	const text = textOf(page)
	return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
		page,
		line: text.slice(0, match.index).split('\n').length,
		kind: match[1] ?? '',
		code: match[2] ?? '',
	}))
}

export function where({ page, line }: Block): string {
	return `${page}:${line}`
}

export const ownPages = pages.filter((page) => page !== TUTORIAL)
export const blocks = ownPages.flatMap(blocksOf)

export function isProgram({ kind }: Block): boolean {
	return kind === 'ts' || kind === 'ts members'
}

/** The name of a module that programs import; `undefined` for other blocks. */
export function moduleName({ kind }: Block): string | undefined {
	return /^ts ((?:[\w-]+\/)*[\w-]+\.ts)$/.exec(kind)?.[1]
}

/** The programs of a page, each with the blocks that follow it. */
function programsOf(page: string, folder: string): Program[] {
	const programs: Program[] = []
	for (const block of blocks.filter((one) => one.page === page)) {
		const file = `${folder}/${page.replaceAll(/\W/g, '-')}-${block.line}.ts`
		if (isProgram(block)) programs.push({ block, says: [], file })
		else if (moduleName(block) === undefined) programs.at(-1)?.says.push(block)
	}
	return programs
}

/** A block as a module that can be run outside of a project. */
function moduleOf({ kind, code }: Block): string {
	return (kind === 'ts members' ? handlerOf(code) : code).replaceAll(
		/'verbena(\/\w+)?'/g,
		(_, subpath = '') => `'${sourceOf(subpath)}'`,
	)
}

/** The source behind a subpath of the package. */
function sourceOf(subpath: string): string {
	const { exports } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
		readonly exports: Readonly<Record<string, string>>
	}
	const built = exports[`.${subpath}`] ?? `no subpath ${subpath}`
	return built.replace('./dist/', `${ROOT}/lib/`).replace(/\.js$/, '.ts')
}

function handlerOf(members: string): string {
	return `import {
	createServer, MemoryCache, RawJson, remember, reply, type Request, RestError, RestHandler, RoleAcl,
} from 'verbena'
class Example extends RestHandler {
${members}
}
const logger = { info() {}, warn() {}, error() {} }
await createServer({ api: new Example() }, { logger }).listen(3000)
`
}

/** A folder in which the programs find what they import and read. */
export function makeFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-docs-'))
	symlinkSync(`${ROOT}/node_modules`, `${folder}/node_modules`, 'dir')
	const compilerOptions = {
		...{ strict: true, noImplicitOverride: true, module: 'nodenext', target: 'es2023', lib: ['es2023'] },
		...{ types: ['node'], noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true },
	}
	const { key, cert } = selfSigned()
	writeFileSync(`${folder}/package.json`, '{ "type": "module" }')
	writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
	writeFileSync(`${folder}/key.pem`, key)
	writeFileSync(`${folder}/cert.pem`, cert)
	mkdirSync(`${folder}/uploads`)
	return folder
}

/** Writes the pages' programs, each with a port of its own and this run's Redis, and what they import. */
export function programsIn(folder: string, ports: readonly number[]): Program[] {
	const programs = pages.flatMap((page) => programsOf(page, folder))
	for (const block of blocks) {
		const name = moduleName(block)
		if (name === undefined) continue
		mkdirSync(dirname(`${folder}/${name}`), { recursive: true })
		// Two pages may not mean two modules by one name.
		writeFileSync(`${folder}/${name}`, moduleOf(block), { flag: 'wx' })
	}
	programs.forEach(({ block, file }, at) => {
		const text = moduleOf(block).replaceAll('127.0.0.1:6379', `127.0.0.1:${REDIS_PORT}`)
		writeFileSync(file, elsewhere(text, ports[at] ?? 0))
	})
	return programs
}
