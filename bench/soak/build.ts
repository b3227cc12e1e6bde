/** Builds the library as it is published, and the program of a server that imports that build. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LIB = join(ROOT, 'lib')

/** The result, in its own folder, so that another soak or a build doesn't delete it. */
export interface Built {
	/** For `node`. */
	readonly program: string
	remove(): void
}

/** @param server the TypeScript file of the server's program */
export async function buildServer(server: string): Promise<Built> {
	const results = join(ROOT, 'bench/results')
	mkdirSync(results, { recursive: true })
	const folder = mkdtempSync(join(results, 'soak-'))
	const remove = () => rmSync(folder, { recursive: true, force: true })
	const shared: BuildOptions = {
		...{ bundle: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' },
		// No source maps: Node would load them at the first logged error, and keep several megabytes in memory.
		packages: 'external',
	}
	try {
		// As `npm run build` does it.
		await build({
			...shared,
			entryPoints: ['index', 'models/postgres/model', 'cache/redis/redis-cache'].map((name) =>
				join(LIB, `${name}.ts`),
			),
			...{ splitting: true, outbase: LIB, outdir: join(folder, 'dist') },
		})
		const program = join(folder, 'server.js')
		await build({ ...shared, entryPoints: [server], outfile: program, plugins: [published] })
		return { program, remove }
	} catch (error) {
		remove()
		throw error
	}
}

/** Resolves imports of `lib/` to its build, as in a program that has the package installed. */
const published: Plugin = {
	name: 'published',
	setup({ onResolve }) {
		onResolve({ filter: /\/lib\/.*\.ts$/ }, ({ path, importer }) => {
			const file = join(dirname(importer), path)
			const name = relative(LIB, file).replace(/\.ts$/, '.js')
			return name.startsWith('..') ? null : { path: `./dist/${name}`, external: true }
		})
	},
}
