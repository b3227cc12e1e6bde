/** Names of prepared statements, and closing statements whose names were dropped. */
import * as assert from 'uvu/assert'
import type { PgConnection } from '../../../lib/models/postgres/pg/pool.ts'
import { namesOf, StatementNames } from '../../../lib/models/postgres/pg/statement-names.ts'
import { describe } from '../../helpers/describe.ts'

/** The name of a text used again. */
function nameOf(names: StatementNames, text: string): string {
	return names.of(text) ?? names.of(text) ?? 'none'
}

describe('statement names', (test) => {
	test('are given to statements used a second time', () => {
		const names = new StatementNames()
		assert.is(names.of('select 1'), undefined)
		assert.type(names.of('select 1'), 'string')
		assert.is(names.of('select 1'), names.of('select 1'))
	})

	test('are the same for the same text everywhere', () => {
		const names = new StatementNames()
		const name = nameOf(names, 'select 1')
		assert.is(names.of('select 1'), name)
		assert.is(nameOf(new StatementNames(), 'select 1'), name)
		assert.is.not(nameOf(names, 'select 2'), name)
	})

	test('are shared by all models on a pool', () => {
		const pool = {}
		assert.is(namesOf(pool), namesOf(pool))
		assert.is.not(namesOf(pool), namesOf({}))
		assert.instance(namesOf(Object.freeze({})), StatementNames)
	})

	test('fit the length limit of PostgreSQL, renewed ones too', () => {
		const names = new StatementNames()
		let name = nameOf(names, 'select 1')
		const seen = new Set<string>()
		for (let i = 0; i < 100; i++) {
			assert.match(name, /^[\w-]{8,63}$/)
			assert.not.ok(seen.has(name))
			seen.add(name)
			names.renew('select 1', name)
			name = names.of('select 1') ?? ''
		}
	})

	test('are renewed once for all connections that see the same change', () => {
		const names = new StatementNames()
		const old = nameOf(names, 'select 1')
		names.renew('select 1', old)
		const renewed = names.of('select 1')
		assert.is.not(renewed, old)
		names.renew('select 1', old)
		assert.is(names.of('select 1'), renewed)
	})

	test('can be turned off', () => {
		const names = new StatementNames()
		nameOf(names, 'select 1')
		names.turnOff()
		for (let time = 0; time < 3; time++) assert.is(names.of('select 1'), undefined)
	})

	test('that are no longer used are closed on a connection before it prepares more, and no others', () => {
		const names = new StatementNames()
		const [first, second] = [nameOf(names, 'select 1'), nameOf(names, 'select 2')]
		const closed: string[] = []
		// The parts of a pg connection that are used.
		const connection = {
			parsedStatements: { [first]: 'select 1', [second]: 'select 2', own: 'select 3' },
			close: ({ name }: { name: string }) => closed.push(name),
		} as unknown as PgConnection
		names.closeEvicted(connection)
		assert.equal(closed, [])
		names.renew('select 1', first)
		for (let time = 0; time < 2; time++) names.closeEvicted(connection)
		assert.equal(closed, [first])
		assert.equal(Object.keys(connection.parsedStatements), [second, 'own'])
		for (let n = 10; n < 510; n++) nameOf(names, `select ${n}`)
		names.closeEvicted(connection)
		assert.equal(closed, [first, second])
		assert.equal(Object.keys(connection.parsedStatements), ['own'])
	})

	for (const [what, length, count] of [
		['500', 10, 500],
		['half a MiB', 32_768, 16],
	] as const)
		test(`require new connections, once, after ${what} of them were dropped`, () => {
			const names = new StatementNames()
			const leave = (times: number) => {
				for (let n = 0; n < times; n++) nameOf(names, `${++asked}`.padEnd(length))
			}
			let asked = 0
			// Those it keeps itself, and one less than the limit.
			leave(count + count - 1)
			assert.not(names.mustRenew())
			leave(1)
			assert.ok(names.mustRenew())
			assert.not(names.mustRenew())
			leave(count)
			assert.ok(names.mustRenew())
		})
})
