/** Each SQL adapter has the same files, which export the same names. */
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { ROOT } from '../../helpers/program.ts'

const FILES: Readonly<Record<string, string>> = {
	dialect: 'dialectOf',
	driver: 'driverOf',
	errors: 'failureOf',
	introspect: 'introspect',
	json: '',
	list: 'Lists',
	model: '',
	totals: 'totalsOf',
	types: 'fieldOf',
}

describe('SQL adapters', (test) => {
	for (const name of ['postgres', 'mysql', 'sqlite'])
		test(`${name} has the same files as the others`, async () => {
			const folder = `${ROOT}/lib/models/${name}`
			const found = readdirSync(folder).filter((file) => file.endsWith('.ts'))
			assert.equal(
				found.sort(),
				Object.keys(FILES).map((file) => `${file}.ts`),
			)
			for (const [file, exported] of Object.entries(FILES)) {
				const names = Object.keys(await import(`${folder}/${file}.ts`))
				assert.ok(exported === '' || names.includes(exported), `${file}: ${names}`)
			}
		})
})
