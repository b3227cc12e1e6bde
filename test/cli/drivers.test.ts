/** The drivers that are found, and what is said where none is. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { driverIn } from '../../lib/cli/drivers.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'verbena-drivers-'))
/** A folder with some of our packages, as a user has installed them. */
function folderWith(...names: string[]): string {
	const own = mkdtempSync(join(folder, 'with-'))
	mkdirSync(join(own, 'node_modules'))
	for (const name of names)
		symlinkSync(`${ROOT}/node_modules/${name}`, join(own, 'node_modules', name), 'dir')
	return own
}

describe('drivers', (test) => {
	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('are found in the folder first, and then beside the package', async () => {
		const [own, other] = [folderWith('postgres'), folderWith('pg')]
		const nameIn = async (first: string, second: string) => {
			const found = await driverIn(first, ['pg', 'postgres'], 'PostgreSQL', join(second, 'package.json'))
			return found.name
		}
		assert.is(await nameIn(own, other), 'postgres')
		assert.is(await nameIn(folder, other), 'pg')
		assert.is(await nameIn(folderWith('postgres', 'pg'), folder), 'pg')
	})

	test('that are missing are named with the command that installs them', async () => {
		const said = async (...names: [string, ...string[]]) =>
			driverIn(folder, names, 'PostgreSQL', join(folder, 'package.json')).catch(({ message }) => message)
		assert.is(
			await said('pg', 'postgres'),
			`PostgreSQL needs a driver, and there is none in ${folder}: npm install pg (or postgres)`,
		)
		assert.match(await said('mysql2/promise'), /: npm install mysql2$/)
	})
})
