/** The fields of the model contract: the documentation matches `MODEL_FIELDS`. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { MODEL_FIELDS } from '../../../lib/testing/index.ts'
import { describe } from '../../helpers/describe.ts'
import { ROOT } from '../../helpers/program.ts'

describe('model fields', (test) => {
	test('the table of docs/models.md lists them all, with type, null and other properties', () => {
		const [, section = ''] = readFileSync(`${ROOT}/docs/models.md`, 'utf8').split('\n## The contract\n')
		const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? []
		const [, , ...rows] = table.trim().split('\n')
		assert.equal(
			rows.map((row) =>
				row
					.replaceAll('`', '')
					.split('|')
					.slice(1, -1)
					.map((cell) => cell.trim()),
			),
			MODEL_FIELDS.map(({ name, type, nullable, note }) => [name, type, nullable ? 'yes' : 'no', note]),
		)
	})

	test('every feature that a field requires can be skipped by its name', () => {
		for (const { type, needs } of MODEL_FIELDS) if (needs !== undefined) assert.is(needs, type)
	})
})
