import * as assert from 'uvu/assert'
import { isKept } from '../../lib/sql/prepared.ts'
import { describe } from '../helpers/describe.ts'

describe('isKept', (test) => {
	const statement = (length: number, values: number) => ({
		text: 'x'.repeat(length),
		values: Array.from({ length: values }, () => 1),
		writes: false,
	})
	const table: [text: number, values: number, kept: boolean][] = [
		[3_000, 2, true],
		// A gathered read of 100 ids, which MariaDB's pads to 128.
		[3_000, 128, true],
		[3_000, 129, false],
		[32_768, 0, true],
		[32_769, 0, false],
	]
	for (const [text, values, kept] of table) {
		test(`${text} characters and ${values} values: ${kept}`, () =>
			assert.is(isKept(statement(text, values)), kept))
	}
})
