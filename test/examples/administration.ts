/** `examples/react-admin` as people use it, for its tests and its pictures: copied, installed from its lock file, served. */
import { cpSync } from 'node:fs'
import { freePorts, ROOT, type Running, run, start, untilPrinted } from '../helpers/program.ts'

/** Copies the example, and `lib/`, which it imports, into a folder. Returns where it is installed. */
export async function install(copy: string): Promise<string> {
	const folder = `${copy}/examples/react-admin`
	cpSync(`${ROOT}/lib`, `${copy}/lib`, { recursive: true })
	cpSync(`${ROOT}/examples/react-admin`, folder, {
		recursive: true,
		filter: (source) => !source.includes('node_modules'),
	})
	const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
	const { code, output } = await run({ program: 'npm', args, cwd: folder })
	if (code !== 0) throw new Error(output)
	return folder
}

/** Starts it where it was installed; the caller ends the program. */
export async function serve(folder: string): Promise<{ program: Running; origin: string }> {
	const [port = 0] = await freePorts(1)
	const origin = `http://127.0.0.1:${port}`
	const program = start({ args: ['--import', 'tsx', 'main.ts'], cwd: folder, env: { PORT: String(port) } })
	try {
		await untilPrinted(program, `The administration is at ${origin}`)
	} catch (error) {
		program.child.kill('SIGKILL')
		throw error
	}
	return { program, origin }
}
