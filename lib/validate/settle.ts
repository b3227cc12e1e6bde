/** What a list of rules says as a whole: which kind its rules imply, and whether they go together. */
import { refuse, shown } from './mistake.ts'
import type { Draft } from './plan.ts'
import type { Choice, Kind } from './validator.ts'

/** The kind that is both; `said` is the rule that names the second one. */
export function joined(where: string, kind: Kind | undefined, other: Kind, said: string = other): Kind {
	if (kind === undefined || kind === other) return other
	if ((kind === 'number' && other === 'integer') || (kind === 'integer' && other === 'number'))
		return 'integer'
	refuse(where, `'${said}' is for a value of kind ${other}, and the list says ${kind}; keep one`)
}

/**
 * Completes a plan once all its rules are in.
 *
 * @throws TypeError when two of them can't both hold
 */
export function settle(where: string, plan: Draft): void {
	if (plan.pattern !== undefined) plan.kind = joined(where, plan.kind, 'string', 'pattern')
	if (plan.items !== undefined) plan.kind = joined(where, plan.kind, 'array', 'of')
	if (plan.fields !== undefined) plan.kind = joined(where, plan.kind, 'object', 'fields')
	plan.reads = plan.kind
	if (plan.choices !== undefined) settleChoices(where, plan, plan.choices)
	if (plan.min !== undefined || plan.max !== undefined) settleLimits(where, plan)
	if (plan.required && plan.fallback !== undefined) {
		refuse(where, "a field with a default is never missing; drop 'required' or default")
	}
	settlePlain(plan)
}

/** Says in `plain`, `least` and `most` how a value is found right at a glance. */
export function settlePlain(plan: Draft): void {
	const { kind, min, max, items, fields } = plan
	if (plan.checks !== undefined || (items !== undefined && items.plain === undefined)) return
	if (fields?.some((field) => field.plan.plain === undefined)) return
	if (kind === undefined && (min ?? max) !== undefined) return
	plan.plain = kind ?? 'anything'
	if (max !== undefined) plan.most = max
	// Characters are counted, and one may take two units: so many units are enough whatever they spell.
	if (min !== undefined) plan.least = kind === 'string' ? 2 * min - 1 : min
}

function settleChoices(where: string, plan: Draft, choices: readonly Choice[]): void {
	const wanted = plan.kind === 'integer' ? 'number' : plan.kind
	for (const choice of choices) {
		if (wanted !== undefined && typeof choice !== wanted) {
			refuse(where, `in holds ${shown(choice)}, which is never of kind ${plan.kind}`)
		}
	}
	const first = typeof choices[0] as 'string' | 'number' | 'boolean' // what a Choice can be
	if (plan.kind === undefined && choices.every((choice) => typeof choice === first)) plan.reads = first
}

function settleLimits(where: string, plan: Draft): void {
	const { kind, min, max } = plan
	if (kind === 'boolean' || kind === 'object') {
		refuse(where, `min and max measure strings, numbers and arrays, and the list says ${kind}`)
	}
	if (min !== undefined && max !== undefined && min > max) {
		refuse(where, `min ${min} is more than max ${max}: no value would do`)
	}
	if (kind !== 'string' && kind !== 'array') return
	for (const size of [min, max]) {
		if (size === undefined || (Number.isInteger(size) && size >= 0)) continue
		refuse(where, `min and max of kind ${kind} are whole numbers from 0 up, got ${size}`)
	}
}
