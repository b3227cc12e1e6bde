/** The arguments that rules take, each made sure of before a value is measured by it. */
import { refuse, shown } from './mistake.ts'
import type { Choice } from './validator.ts'

/** A second pattern that silently took the place of the first would let through what the first refuses. */
export function once<T>(where: string, key: string, before: T | undefined, value: T): T {
	if (before !== undefined) refuse(where, `${key} is given twice; keep one`)
	return value
}

export function limit(where: string, key: string, value: unknown): number {
	if (typeof value === 'number' && Number.isFinite(value)) return value
	refuse(where, `${key} must be a finite number, got ${shown(value)}`)
}

export function pattern(where: string, value: unknown): RegExp {
	if (!(value instanceof RegExp)) refuse(where, `pattern must be a RegExp, got ${shown(value)}`)
	if (value.global || value.sticky) {
		refuse(where, 'pattern must be without the flags g and y: it would go on from its last match')
	}
	return value
}

export function choices(where: string, value: unknown): readonly Choice[] {
	if (!Array.isArray(value) || value.length === 0) {
		refuse(where, `in must be an array of at least one value, got ${shown(value)}`)
	}
	for (const choice of value as readonly unknown[]) {
		if (choice === null) refuse(where, "in can't hold null; add the rule 'nullable'")
		if (typeof choice !== 'string' && typeof choice !== 'number' && typeof choice !== 'boolean') {
			refuse(where, `in holds strings, numbers and booleans, got ${shown(choice)}`)
		}
	}
	return value
}

export function fallback(where: string, value: unknown): unknown {
	if (value === undefined)
		refuse(where, 'default must be a value or a function that makes one, got undefined')
	if (typeof value !== 'object') return value
	try {
		structuredClone(value) // as each absent field will
	} catch {
		refuse(where, "default can't be cloned; give a function that makes it")
	}
	return value
}
