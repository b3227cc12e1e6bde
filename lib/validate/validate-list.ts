/** Our own validator: lists of rules as `validator.ts` describes them. */
import type { Detail } from '../wire/codes.ts'
import { directAnswers } from './answers.ts'
import { checkPlan } from './check.ts'
import { planRules } from './compile.ts'
import type { Plan } from './plan.ts'
import { MAX_PROBLEMS } from './problem.ts'
import type { Result, Rule, ValidateOptions, Validator } from './validator.ts'

/** The validator used where no other is given. */
export const ruleValidator: Validator = { validateList }

/**
 * Checks a value against rules. An absent value is `undefined`.
 *
 *     validateList(-1, ['integer', { min: 0 }])
 *     { ok: false, problems: [{ field: '', code: 'min', message: 'must be at least 0' }] }
 *
 * @throws TypeError when a rule is misspelt or can't hold together with another
 */
export function validateList(value: unknown, rules: readonly Rule[], options: ValidateOptions = {}): Result {
	return checkRules(compileRules(rules), value, options)
}

/**
 * Reads a list once, for many values.
 *
 * @throws TypeError when a rule is misspelt or can't hold together with another
 */
export function compileRules(rules: readonly Rule[]): Plan {
	return planRules('', rules)
}

/** `validateList` with rules that are compiled already; told are the first 100 problems. */
export function checkRules(rules: Plan, value: unknown, options: ValidateOptions = {}): Result {
	const problems: Detail[] = []
	const checked = checkPlan(
		{ coerce: options.coerce === true, problems, answers: directAnswers },
		rules,
		value,
	)
	if (problems.length === 0) return { ok: true, value: checked }
	return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
}
