/** Selects cases of the model contract by name. Called by the contract suites of PostgreSQL and MariaDB. */
import type { Case } from '../../lib/testing/case.ts'

/** The cases that match one of `patterns`. @throws Error for a pattern that matches no case: it was renamed */
export function selectCases(cases: readonly Case[], patterns: readonly RegExp[]): Case[] {
	for (const pattern of patterns) {
		if (!cases.some(({ name }) => pattern.test(name)))
			throw new Error(`no case of the contract matches ${pattern}`)
	}
	return cases.filter(({ name }) => patterns.some((pattern) => pattern.test(name)))
}
