/** Recognizing the database on the command line, without a password in any message, and finding an installed driver. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseCommand, UsageError } from '../../lib/cli/arguments.ts'
import { driverIn, sourceOf } from '../../lib/cli/databases.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'
import { folder, folderWith } from './folders.ts'

/** The place that is opened, or the message; another error than a usage error is a fault. */
async function said(source: string, from: string = ROOT): Promise<string> {
	const command = parseCommand([source], {})
	assert.ok(typeof command !== 'string')
	try {
		const { place, close } = await sourceOf(command, from)
		await close()
		return place
	} catch (error) {
		assert.instance(error, UsageError, String(error))
		return error instanceof UsageError ? error.message : ''
	}
}

describe('the database of the command', (test) => {
	test('is an SQLite file with any name', async () => {
		// Drivers are found beside this package.
		for (const name of ['a b.db', '100%.db', 'a%20c.db', 'd#?.db']) {
			writeFileSync(join(folder, name), '')
			for (const source of [name, `sqlite:${name}`, `file:${name}`, join(folder, name)])
				assert.match(await said(source, folder), /^SQLite by .*, /, source)
		}
		for (const source of ['sqlite:a%20b.db', `file://${folder}/a%20b.db`, `sqlite://${folder}/a b.db`])
			assert.match(await said(source, folder), /^SQLite by .*a b\.db$/, source)
	})

	test('is no directory', async () => {
		mkdirSync(join(folder, 'dir.db'))
		assert.match(await said('sqlite:dir.db', folder), /^dir\.db is not a file$/)
	})

	const mistaken = [
		...['postgres://u:s3%zzcret@h/d', 'mysql://u:s3%zzcret@h/d', 'postgres://u:12/s3cret@h/d'],
		...['postgres://u:12#s3cret@h/d', 'mysql://u:12/s3cret@h/d', 'my_u:s3cret@h/d', 'postgres://u:s3cret'],
		...[
			'host=h password=s3cret dbname=d',
			'jdbc:postgresql://h/d?password=s3cret',
			' postgres://u:s3cret@h/d',
		],
	]
	for (const source of mistaken)
		test(`is reported without the password: ${source}`, async () => {
			assert.not.match(await said(source), /s3|cret/)
		})
})

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
