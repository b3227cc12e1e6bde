import * as assert from 'uvu/assert'
import { consoleLogger } from '../../lib/base/logger.ts'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

const LEVELS = ['info', 'warn', 'error'] as const

/** The calls of the console while `work` runs. */
async function calledBy(work: () => unknown): Promise<unknown[][]> {
	const originals = LEVELS.map((level) => [level, console[level]] as const)
	const calls: unknown[][] = []
	for (const level of LEVELS) console[level] = (...args: unknown[]) => void calls.push([level, ...args])
	try {
		await work()
	} finally {
		for (const [level, original] of originals) console[level] = original
	}
	return calls
}

/** The logged text of an error, without stack frames. */
async function toldOf(err: unknown): Promise<string[]> {
	const [[, , text] = []] = await calledBy(() => consoleLogger.error({ err }, 'failed'))
	return String(text)
		.split('\n')
		.filter((line) => !/^ +at /.test(line))
}

describe('logger', (test) => {
	for (const level of LEVELS) {
		test(`${level} goes to console.${level}, message first`, async () => {
			assert.equal(await calledBy(() => consoleLogger[level]({ a: 1 }, 'said')), [[level, 'said', { a: 1 }]])
		})
	}

	test('control characters in message and error are escaped, which prevents log injection', async () => {
		const evil = 'x\r\n\u001b[31m2026-11-22 admin logged in\u202e\u0000\u0085\u2028\tend'
		const shown = 'x\\r\\n\\u001b[31m2026-11-22 admin logged in\\u202e\\u0000\\u0085\\u2028\\tend'
		const err = new Error(evil.replace('\r\n', '\r\n    at forged (frame:1:1)\n'))
		const [[, said, text] = []] = await calledBy(() => consoleLogger.error({ err }, evil))
		assert.is(said, shown)
		const [head, ...frames] = String(text).split('\n')
		assert.is(head, `Error: ${shown.replace('\\r\\n', '\\r\\n    at forged (frame:1:1)\\n')}`)
		assert.ok(frames.length > 0)
		assert.ok(frames.every((frame) => /^ {4}at /.test(frame) && !frame.includes('forged')))
	})

	test('a % in a message consumes no fields', async () => {
		assert.equal(await calledBy(() => consoleLogger.info({ a: 1 }, '100 %s')), [
			['info', '100 %%s', { a: 1 }],
		])
	})

	test("the whole chain of causes is logged, with each error's fields", async () => {
		const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), {
			code: 'ECONNREFUSED',
			port: 5432,
			socket: {},
		})
		const pool = new Error('no connection', { cause: refused })
		const model = new TypeError('the database is unreachable', { cause: new Error('3', { cause: pool }) })
		assert.equal(await toldOf(model), [
			'TypeError: the database is unreachable',
			'  [cause]: Error: 3',
			'    [cause]: Error: no connection',
			'      [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432 (code: "ECONNREFUSED", port: 5432)',
		])
	})

	test('all errors of an AggregateError are logged', async () => {
		const all = Object.assign(new AggregateError([new Error('::1'), new Error('127.0.0.1')]), {
			code: 'ECONNREFUSED',
		})
		assert.equal(await toldOf(new Error('unreachable', { cause: all })), [
			'Error: unreachable',
			'  [cause]: AggregateError (code: "ECONNREFUSED")',
			'    [errors 1 of 2]: Error: ::1',
			'    [errors 2 of 2]: Error: 127.0.0.1',
		])
	})

	test('a chain of causes that is circular, long or wide is cut', async () => {
		const one = new Error('one')
		one.cause = new Error('two', { cause: one })
		assert.equal(await toldOf(one), ['Error: one', '  [cause]: Error: two', '    [cause]: the error above'])
		let deep = new Error('0')
		for (let at = 1; at < 1_000; at++) deep = new Error(String(at), { cause: deep })
		assert.is((await toldOf(deep)).length, 21)
		const wide = new AggregateError(Array.from({ length: 100_000 }, () => new Error('x'.repeat(100_000))))
		const told = await toldOf(wide)
		assert.ok(told.length <= 22)
		assert.ok(told.join('').length < 100_000)
	})

	test('a thrown value may be anything, and may throw when read', async () => {
		const trap = new Error('trap')
		Object.defineProperty(trap, 'stack', { get: () => assert.unreachable('not for the log') })
		assert.equal(await toldOf(trap), ['an error that cannot be shown'])
		assert.equal(await toldOf(new Error('text', { cause: 'a\nb' })), ['Error: text', '  [cause]: "a\\nb"'])
		// The console formats values that aren't errors.
		assert.equal(await calledBy(() => consoleLogger.error({ err: 'a\nb' }, 'x')), [
			['error', 'x', { err: 'a\nb' }],
		])
	})

	test('fields next to an error are kept', async () => {
		const [[, said, fields, text] = []] = await calledBy(() =>
			consoleLogger.error({ requestId: '1', err: new Error('x') }, 'failed'),
		)
		assert.equal([said, fields], ['failed', { requestId: '1' }])
		assert.match(String(text), /^Error: x\n/)
	})

	test('the default logger gets the cause of a 500', async () => {
		class Broken extends RestHandler {
			get_a() {
				throw new Error('broken', { cause: new Error('first', { cause: new Error('connect ECONNREFUSED') }) })
			}
		}
		const server = createServer({ '': new Broken() })
		const calls = await calledBy(async () => assert.is((await server.inject({ url: '/a' })).status, 500))
		assert.match(calls.flat().join('\n'), /Error: broken\n.*\[cause\]: Error: connect ECONNREFUSED\n/s)
	})
})
