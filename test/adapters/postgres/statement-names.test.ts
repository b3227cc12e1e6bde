/** Names of prepared statements. */
import * as assert from 'uvu/assert'
import { StatementNames } from '../../../lib/adapters/postgres/statement-names.ts'
import { describe } from '../../helpers/describe.ts'

describe('statement names', (test) => {
	test('are the same for the same text, wherever', () => {
		const names = new StatementNames()
		const name = names.of('select 1')
		assert.type(name, 'string')
		assert.is(names.of('select 1'), name)
		assert.is(new StatementNames().of('select 1'), name)
		assert.is.not(names.of('select 2'), name)
	})

	test('fit into what PostgreSQL keeps of a name, renewed ones too', () => {
		const names = new StatementNames()
		let name = names.of('select 1') ?? ''
		const seen = new Set<string>()
		for (let i = 0; i < 100; i++) {
			assert.match(name, /^[\w-]{8,63}$/)
			assert.not.ok(seen.has(name))
			seen.add(name)
			names.renew('select 1', name)
			name = names.of('select 1') ?? ''
		}
	})

	test('are renewed once for all connections that meet the same change', () => {
		const names = new StatementNames()
		const old = names.of('select 1') ?? ''
		names.renew('select 1', old)
		const renewed = names.of('select 1')
		assert.is.not(renewed, old)
		names.renew('select 1', old)
		assert.is(names.of('select 1'), renewed)
	})

	test('are only so many', () => {
		const names = new StatementNames()
		for (let i = 0; i < 500; i++) assert.ok(names.of(`select ${i}`) !== undefined)
		assert.is(names.of('select 500'), undefined)
		assert.ok(names.of('select 499') !== undefined)
	})

	test('can be turned off', () => {
		const names = new StatementNames()
		names.of('select 1')
		names.turnOff()
		assert.is(names.of('select 1'), undefined)
	})
})
