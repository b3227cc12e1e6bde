/** Finding an installed driver, and the message if there is none. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { driverIn } from '../../lib/cli/drivers.ts'
import { describe } from '../helpers/describe.ts'
import { folder, folderWith } from './folders.ts'

describe('drivers', (test) => {
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
