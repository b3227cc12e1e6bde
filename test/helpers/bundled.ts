/**
 * Bundles a TypeScript program with everything it imports from this repository into one JavaScript file, which starts in a
 * third of the time that `tsx` needs. For programs that tests start many times.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ROOT } from './program.ts'

const made = new Map<string, Promise<string>>()
let folder: string | undefined

/** The `node` arguments for a TypeScript file, which is bundled once per process and deleted at its end. */
export async function bundled(file: string, ...args: string[]): Promise<string[]> {
	let output = made.get(file)
	if (output === undefined) {
		output = bundle(file)
		made.set(file, output)
	}
	return ['--enable-source-maps', await output, ...args]
}

async function bundle(file: string): Promise<string> {
	folder ??= makeFolder()
	const outfile = join(folder, `${made.size}-${basename(file, '.ts')}.mjs`)
	await build({
		...{ entryPoints: [file], outfile, bundle: true, packages: 'external', format: 'esm' },
		...{ platform: 'node', target: 'node20', sourcemap: true, logLevel: 'warning' },
		// So that the program still finds the files next to its source.
		define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
	})
	return outfile
}

/** With a link to `node_modules`, as the bundle imports packages from its own folder. */
function makeFolder(): string {
	const made = mkdtempSync(join(tmpdir(), 'verbena-bundled-'))
	symlinkSync(`${ROOT}/node_modules`, join(made, 'node_modules'), 'dir')
	process.once('exit', () => rmSync(made, { recursive: true, force: true }))
	return made
}
