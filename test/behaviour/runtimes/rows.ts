/** The rows of the table of docs/runtimes.md: how the package is used in each. */
import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import * as assert from 'uvu/assert'
import { blocksOf } from '../../docs/blocks.ts'
import { type Command, ROOT } from '../../helpers/program.ts'
import { binary, nodes } from './tools.ts'

export const PAGE = 'docs/runtimes.md'

const manifest = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
	exports: Readonly<Record<string, string>>
}

/** A file of this folder, with the package's names for the sources that it imports. */
export function published(name: string): string {
	const sources = Object.entries(manifest.exports).map(([subpath, file]): [string, string] => [
		file.replace('./dist/', '../../../lib/').replace('.js', '.ts'),
		subpath.replace('.', 'verbena'),
	])
	const text = readFileSync(new URL(name, import.meta.url), 'utf8')
	const named = sources.reduce((code, [from, to]) => code.replaceAll(`'${from}'`, `'${to}'`), text)
	assert.not.match(named, '../lib/')
	return named
}

type Ending = 'mjs' | 'cjs' | 'ts'

/** `probe` and `main` in a module system, or in TypeScript as old projects write it. */
export function sources(ending: Ending): Record<string, string> {
	const format = ending === 'cjs' ? 'cjs' : 'esm'
	const compiled = (name: string) => {
		const code = published(`${name}.ts`)
		if (ending === 'ts') return code.replace('./probe.ts', './probe')
		return transformSync(code, { loader: 'ts', format }).code.replace('./probe.ts', `./probe.${ending}`)
	}
	return { [`probe.${ending}`]: compiled('probe'), [`main.${ending}`]: compiled('main') }
}

const JEST_TEST = "test('works', () => require('./main').done)\n"
const VITEST_TEST =
	"import { test } from 'vitest'\nimport { done } from './main'\ntest('works', () => done)\n"
const OLD_CONFIG = {
	compilerOptions: {
		...{ module: 'commonjs', moduleResolution: 'node10', target: 'es2022', strict: true },
		...{ esModuleInterop: true, isolatedModules: true, types: ['node'] },
	},
}

export interface Row {
	readonly name: string
	readonly type: 'module' | 'commonjs'
	readonly files: Readonly<Record<string, string>>
	command(bin: (name: string) => string): Promise<Omit<Command, 'cwd'>>
}

const NODES = ['20', '24', '26']
const nodeOf = async (version: string) => (await nodes(NODES)).get(version) ?? ''
const [BABEL = '', TS_JEST = ''] = blocksOf(PAGE)
	.filter(({ kind }) => kind === 'js')
	.map(({ code }) => code)
const JEST = 'jest/bin/jest.js'
const VM_MODULES = { NODE_OPTIONS: '--experimental-vm-modules' }
const commonjs = { type: 'commonjs', files: sources('cjs') } as const
const esm = { type: 'module', files: sources('mjs') } as const
const typescript = { ...sources('ts'), 'tsconfig.json': JSON.stringify(OLD_CONFIG) }
/** Jest finds `main` by the endings it knows. */
const jest = (files: Readonly<Record<string, string>>): Record<string, string> =>
	Object.fromEntries(
		Object.entries(files).map(([name, code]) => [name.replace('.cjs', '.js'), code.replace('.cjs', '.js')]),
	)
const jestFiles = { ...jest(commonjs.files), 'main.test.js': JEST_TEST }

export const ROWS: readonly Row[] = [
	...NODES.flatMap((version): Row[] => [
		{
			name: `Node ${version}, \`import\``,
			...esm,
			command: async () => ({ program: await nodeOf(version), args: ['main.mjs'] }),
		},
		{
			name: `Node ${version}, \`require\``,
			...commonjs,
			command: async () => ({ program: await nodeOf(version), args: ['main.cjs'] }),
		},
	]),
	{
		name: 'Bun 1.4, `import`',
		...esm,
		command: async () => ({ program: await binary('@oven', 'bin/bun'), args: ['main.mjs'] }),
	},
	{
		name: 'Bun 1.4, `require`',
		...commonjs,
		command: async () => ({ program: await binary('@oven', 'bin/bun'), args: ['main.cjs'] }),
	},
	{
		name: 'Deno 2.9',
		...esm,
		command: async () => ({
			program: await binary('@deno', 'deno'),
			args: ['run', '-A', '--no-lock', 'main.mjs'],
		}),
	},
	{
		name: 'tsx 4',
		type: 'module',
		files: typescript,
		command: async () => ({ args: ['--import', 'tsx', 'main.ts'] }),
	},
	{
		name: 'Vitest 4',
		type: 'module',
		files: { ...typescript, 'main.test.ts': VITEST_TEST },
		command: async (bin) => ({ args: [bin('vitest/vitest.mjs'), 'run', '--root', '.'] }),
	},
	{
		name: 'Jest 30, ES modules',
		type: 'module',
		files: {
			...esm.files,
			'main.test.mjs': "import { done } from './main.mjs'\ntest('works', () => done)\n",
			'jest.config.mjs': "export default { testMatch: ['**/*.test.mjs'], transform: {} }\n",
		},
		command: async (bin) => ({ args: [bin(JEST)], env: VM_MODULES }),
	},
	{
		name: 'Jest 30, CommonJS, without settings',
		type: 'commonjs',
		files: { ...jestFiles, 'jest.config.cjs': 'module.exports = {}\n' },
		command: async (bin) => ({ args: [bin(JEST)] }),
	},
	{
		name: 'Jest 30, CommonJS, Node 24 with `--experimental-vm-modules`',
		type: 'commonjs',
		files: { ...jestFiles, 'jest.config.cjs': 'module.exports = {}\n' },
		command: async (bin) => ({ program: await nodeOf('24'), args: [bin(JEST)], env: VM_MODULES }),
	},
	{
		name: 'Jest 30, CommonJS, [with Babel](#jest)',
		type: 'commonjs',
		files: { ...jestFiles, 'jest.config.cjs': BABEL },
		command: async (bin) => ({ args: [bin(JEST)] }),
	},
	{
		name: 'Jest 30, CommonJS, [with ts-jest](#jest) 29',
		type: 'commonjs',
		files: {
			...typescript,
			'main.test.ts': `declare const test: (name: string, run: () => Promise<void>) => void\nimport { done } from './main'\ntest('works', () => done)\n`,
			'jest.config.cjs': TS_JEST,
		},
		command: async (bin) => ({ args: [bin(JEST)] }),
	},
]
