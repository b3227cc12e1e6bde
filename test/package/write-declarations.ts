/**
 * The last step of `npm run build`: of the declarations that tsc has written for each file of `lib/`, what the subpaths
 * show is put into two files, one for browsers (`verbena/client`, `verbena/refine` and the like) and one for all else, each subpath naming its own. Beside
 * them go the sources of the classes and functions that are shown, to which "go to definition" leads; and the
 * programs lose comments, which stand in these two, and white space.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { ROOT } from '../helpers/program.ts'
import { bundle, type Chunk } from './declarations.ts'

const DIST = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const LIB = join(ROOT, 'lib')
const IN_BROWSERS = /^(?:client|providers)\//
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
	exports: Readonly<Record<string, string>>
}

/** Modules by their names below `dist`, without ending: `handler`, `client/index`. */
function readModules(): Map<string, { text: string; map: string }> {
	const modules = new Map<string, { text: string; map: string }>()
	for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
		if (!name.endsWith('.d.ts')) continue
		const text = readFileSync(join(DIST, name), 'utf8')
		const map = readFileSync(join(DIST, `${name}.map`), 'utf8')
		modules.set(name.slice(0, -'.d.ts'.length), { text, map })
	}
	return modules
}

function write(name: string, { text, map }: Chunk): void {
	writeFileSync(join(DIST, `${name}.d.ts`), `${text}//# sourceMappingURL=${name}.d.ts.map\n`)
	writeFileSync(join(DIST, `${name}.d.ts.map`), JSON.stringify({ ...map, file: `${name}.d.ts` }))
}

/**
 * Without comments and white space, in short lines: names and places in a stack trace are still of use. No line ends between a dot
 * and a name that another word follows: TypeScript takes that for an unfinished expression, and so ts-jest, which compiles
 * this code to CommonJS, would make nonsense of it.
 */
function shortened(code: string): string {
	const written = minified(code, 120).replaceAll(/\.\n(?=[\w$]+ \w)/g, '\n.')
	if (minified(written) !== minified(code)) throw new Error('a line within a text has been moved')
	return written
}

/** @param lineLimit 0 for one line */
function minified(code: string, lineLimit = 0): string {
	return transformSync(code, { minifyWhitespace: true, lineLimit, legalComments: 'none' }).code
}

const modules = readModules()
for (const name of modules.keys())
	for (const ending of ['.d.ts', '.d.ts.map']) rmSync(join(DIST, name + ending))

const entries = Object.values(MANIFEST.exports)
	.filter((path) => path.endsWith('.js'))
	.map((path) => path.slice('./dist/'.length, -'.js'.length))
const { chunks, exported, sources } = bundle(modules, {
	// The first takes what its subpaths need, and nothing of it needs Node; the second has the rest.
	browser: entries.filter((name) => IN_BROWSERS.test(name)),
	types: entries.filter((name) => !IN_BROWSERS.test(name)),
})
for (const [name, chunk] of chunks) write(name, chunk)
for (const [entry, lines] of exported) {
	const text = lines.map(({ chunk, names }) => {
		const from = relative(dirname(entry), chunk)
		return `export { ${names.join(', ')} } from '${from.startsWith('.') ? from : `./${from}`}.js';\n`
	})
	writeFileSync(join(DIST, `${entry}.d.ts`), text.join(''))
}
for (const name of sources) {
	// What only the SQL models themselves are made of is read in their declarations.
	if (/^models\/sql\/(?!dialect|driver|sql-model)/.test(name)) continue
	const to = join(DIST, 'source', `${name}.ts`)
	mkdirSync(dirname(to), { recursive: true })
	cpSync(join(LIB, `${name}.ts`), to)
}
for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
	if (!name.endsWith('.js')) continue
	writeFileSync(join(DIST, name), shortened(readFileSync(join(DIST, name), 'utf8')))
}
// Folders of modules that only had declarations.
for (const entry of readdirSync(DIST, { withFileTypes: true, recursive: true }).reverse())
	if (entry.isDirectory() && readdirSync(join(entry.parentPath, entry.name)).length === 0)
		rmSync(join(entry.parentPath, entry.name), { recursive: true })
