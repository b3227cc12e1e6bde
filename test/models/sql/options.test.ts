import * as assert from 'uvu/assert'
import { type OpenAllOptions, openingOptions, type TableOptions } from '../../../lib/models/sql/options.ts'
import { describe } from '../../helpers/describe.ts'

describe('options of SQL models', (test) => {
	test('have defaults', () =>
		assert.equal(openingOptions('SqliteModel', {}, ['key']), {
			key: undefined,
			bigint: 'number',
			timeoutSeconds: 5,
		}))

	test('are accepted up to their bounds', () => {
		const given = { key: 'id', bigint: 'string', timeoutSeconds: 86_400 } as const
		assert.equal(openingOptions('SqliteModel', given, ['key']), given)
		assert.is(openingOptions('SqliteModel', { timeoutSeconds: 0.001 }, []).timeoutSeconds, 0.001)
		assert.is(openingOptions('SqliteModel', {}, ['views']).views, false)
		const all: OpenAllOptions = { views: true }
		assert.is(openingOptions('SqliteModel', all, ['views']).views, true)
	})

	const range = 'RangeError: SqliteModel: timeoutSeconds must be a number above 0 and at most 86400, got '
	const table: [options: unknown, message: string][] = [
		[null, 'TypeError: the options of SqliteModel must be an object, got null'],
		['id', 'TypeError: the options of SqliteModel must be an object, got "id"'],
		[{ bigInt: 'string' }, 'TypeError: SqliteModel has no option bigInt: did you mean bigint?'],
		[{ where: 1 }, 'TypeError: SqliteModel has no option where; there are key, bigint, timeoutSeconds'],
		[
			{ schema: 'blog' },
			'TypeError: SqliteModel has no option schema; there are key, bigint, timeoutSeconds',
		],
		[{ key: 1 }, 'TypeError: SqliteModel: key must be a column or a list of columns, got 1'],
		[{ key: null }, 'TypeError: SqliteModel: key must be a column or a list of columns, got null'],
		[{ bigint: 'text' }, `TypeError: SqliteModel: bigint must be 'number' or 'string', got "text"`],
		[{ bigint: 10n }, `TypeError: SqliteModel: bigint must be 'number' or 'string', got 10`],
		[
			{ timeoutSeconds: '5' },
			'TypeError: SqliteModel: timeoutSeconds must be a number above 0 and at most 86400, got "5"',
		],
		[
			{ timeoutSeconds: null },
			'TypeError: SqliteModel: timeoutSeconds must be a number above 0 and at most 86400, got null',
		],
		[{ timeoutSeconds: 0 }, `${range}0`],
		[{ timeoutSeconds: -1 }, `${range}-1`],
		[{ timeoutSeconds: Number.NaN }, `${range}NaN`],
		[{ timeoutSeconds: Infinity }, `${range}Infinity`],
		[{ timeoutSeconds: 86_401 }, `${range}86401`],
	]
	for (const [options, message] of table) {
		test(`invalid options throw ${message}`, () =>
			assert.throws(
				// A program without types may pass anything.
				() => openingOptions('SqliteModel', options as TableOptions, ['key']),
				(error: unknown) => String(error) === message,
			))
	}

	for (const [views, shown] of [
		['all', '"all"'],
		[1, '1'],
		[null, 'null'],
	] as const) {
		test(`views: ${shown} is refused`, () =>
			assert.throws(
				// A program without types may pass anything.
				() => openingOptions('SqliteModel', { views } as unknown as OpenAllOptions, ['views']),
				(error: unknown) =>
					String(error) === `TypeError: SqliteModel: views must be true or false, got ${shown}`,
			))
	}

	test('an option of another function is refused', () => {
		const ofAll: OpenAllOptions = { views: true }
		assert.throws(() => openingOptions('MysqlModel', ofAll, ['key']), /^MysqlModel has no option views/)
		const options: TableOptions = { key: 'id' }
		assert.throws(
			() => openingOptions('MysqlModel', options, []),
			/^MysqlModel has no option key; there are bigint/,
		)
	})
})
