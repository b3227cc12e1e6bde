import * as assert from 'uvu/assert'
import { consoleLogger } from '../lib/logger.ts'
import { describe } from './helpers/describe.ts'

describe('logger', (test) => {
	for (const level of ['info', 'warn', 'error'] as const) {
		test(`${level} goes to console.${level}, message first`, () => {
			const original = console[level]
			const calls: unknown[][] = []
			console[level] = (...args: unknown[]) => void calls.push(args)
			try {
				consoleLogger[level]({ a: 1 }, 'said')
			} finally {
				console[level] = original
			}
			assert.equal(calls, [['said', { a: 1 }]])
		})
	}
})
