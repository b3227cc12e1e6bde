/** Replication positions of MariaDB and MySQL, parsed from the texts that the servers report. */
import * as assert from 'uvu/assert'
import { replicationOf } from '../../../lib/models/mysql/replicas/replication.ts'
import { describe } from '../../helpers/describe.ts'

describe('replication of MariaDB', (test) => {
	const { read, hasReached } = replicationOf(true)
	const server = (own: string, replicated: string, id = 2) => read([1, 1, id, own, replicated]).at
	const primary = (own: string, id = 1) => read([0, 1, id, own, '']).at

	test('has reached a position when each domain has', () => {
		const at = primary('0-1-100,5-3-7')
		assert.ok(hasReached(server('', '0-1-100,5-3-7'), at))
		assert.ok(hasReached(server('', '5-3-8, 0-1-9007199254740993'), at))
		assert.not(hasReached(server('', '0-1-99,5-3-7'), at))
		assert.not(hasReached(server('', '0-1-100'), at))
		assert.ok(hasReached(server('', ''), primary('')))
	})

	test('counts what a server has written itself only if it was the primary', () => {
		assert.not(hasReached(server('0-2-150', '0-1-99'), primary('0-1-100')))
		assert.ok(hasReached(server('0-2-150', '0-1-99'), primary('0-2-150', 2)))
	})

	test('knows a primary by read_only, and that one without a binary log has no replicas', () => {
		assert.equal([read([0, 1, 1, '', '']).isPrimary, read([1, 1, 1, '', '']).isPrimary], [true, false])
		assert.throws(() => read([0, 0, 1, '', '']), /writes no binary log/)
	})
})

describe('replication of MySQL', (test) => {
	const { read, hasReached } = replicationOf(false)
	const [A, B] = ['3e11fa47-71ca-11e1-9e33-c80aa9429562', '4c1e0b2a-0000-11e1-9e33-c80aa9429562']
	const at = (set: string) => read([1, 'ON', set]).at

	test('has reached a set that is a part of its own', () => {
		assert.ok(hasReached(at(`${A}:1-10`), at(`${A}:1-10`)))
		assert.ok(hasReached(at(`${A}:1-20,\n${B}:1-5`), at(`${A}:1-3:7-10`)))
		assert.not(hasReached(at(`${A}:1-9`), at(`${A}:1-10`)))
		assert.not(hasReached(at(`${A}:1-3:5-20`), at(`${A}:1-10`)))
		assert.not(hasReached(at(`${A}:1-10`), at(`${A}:1-10,\n${B}:1`)))
		assert.ok(hasReached(at(`${A}:1-10`), at('')))
	})

	test('has tags', () => {
		assert.ok(hasReached(at(`${A}:1-3:blue:1-9:red:1-2`), at(`${A}:1-3:red:2`)))
		assert.not(hasReached(at(`${A}:1-9:red:1`), at(`${A}:red:1-2`)))
	})

	test('needs gtid_mode', () => {
		assert.throws(() => read([0, 'OFF', '']), /gtid_mode is OFF/)
	})
})
