/** Folders in which the command is run: empty, or with some of our packages, as a user has installed them. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../helpers/program.ts'

/** Without packages; removed when the process exits. */
export const folder: string = mkdtempSync(join(tmpdir(), 'verbena-cli-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A new folder below it, with packages. */
export function folderWith(...names: string[]): string {
	const own = mkdtempSync(join(folder, 'with-'))
	mkdirSync(join(own, 'node_modules'))
	for (const name of names)
		symlinkSync(`${ROOT}/node_modules/${name}`, join(own, 'node_modules', name), 'dir')
	return own
}
