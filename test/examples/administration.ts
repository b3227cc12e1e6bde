/** `examples/react-admin` and `examples/refine` as people use them, for their tests and pictures: copied, installed from their lock files, served. */
import { cpSync } from 'node:fs'
import { freePorts, ROOT, type Running, run, start, untilPrinted } from '../helpers/program.ts'

/** Copies the examples, and `lib/`, which they import, into a folder. Returns where the one that is named is installed. */
export async function install(copy: string, name = 'react-admin'): Promise<string> {
	const folder = `${copy}/examples/${name}`
	cpSync(`${ROOT}/lib`, `${copy}/lib`, { recursive: true })
	// Both use the records of the one for react-admin.
	for (const one of new Set(['react-admin', name]))
		cpSync(`${ROOT}/examples/${one}`, `${copy}/examples/${one}`, {
			recursive: true,
			filter: (source) => !source.includes('node_modules'),
		})
	const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
	const { code, output } = await run({ program: 'npm', args, cwd: folder })
	if (code !== 0) throw new Error(output)
	return folder
}

/** What the compiler finds in an example, and not in the packages that it uses: its tsconfig.json has `skipLibCheck`. */
export async function compiled(folder: string): Promise<string> {
	const args = ['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false']
	const { output } = await run({ args, cwd: folder })
	return output
		.split('\n')
		.filter((line) => /^\S/.test(line) && !line.startsWith('node_modules/'))
		.join('\n')
}

/** Starts it where it was installed; the caller ends the program. */
export async function serve(
	folder: string,
	words = 'The administration is at',
): Promise<{ program: Running; origin: string }> {
	const [port = 0] = await freePorts(1)
	const origin = `http://127.0.0.1:${port}`
	const program = start({ args: ['--import', 'tsx', 'main.ts'], cwd: folder, env: { PORT: String(port) } })
	try {
		await untilPrinted(program, `${words} ${origin}`)
	} catch (error) {
		program.child.kill('SIGKILL')
		throw error
	}
	return { program, origin }
}
