/** How much a value is: the length of a string, the size of a number, the items of an array. */
import type { Detail } from '../wire/codes.ts'
import { hasFormat } from './format.ts'
import type { Plan } from './plan.ts'
import { note } from './problem.ts'
import type { Format } from './validator.ts'

const FORMATS: Readonly<Record<Format, string>> = {
	email: 'must be an email address',
	url: 'must be an http or https URL',
	uuid: 'must be a UUID',
	date: 'must be a date such as 2026-11-20',
	datetime: 'must be a date and time with zone such as 2026-11-20T10:00:00Z',
}

/** Notes what is wrong with the text of a string. */
export function measureText(problems: Detail[], plan: Plan, value: string): string {
	const { format, pattern, min, max } = plan
	if (format !== undefined && !hasFormat(format, value)) note(problems, format, FORMATS[format])
	if (min !== undefined && min > 0 && !longerThan(value, min - 1)) {
		note(problems, 'min', `must have at least ${counted(min, 'character')}`)
	}
	if (max !== undefined && longerThan(value, max)) {
		note(problems, 'max', `must have at most ${counted(max, 'character')}`)
		return value // the pattern isn't tried: `max` is what keeps a slow one from a long text
	}
	if (pattern !== undefined && !pattern.test(value))
		note(problems, 'pattern', 'does not have the required form')
	return value
}

/** Whether `text` has more than `count` code points: counted only where its length leaves it open. */
function longerThan(text: string, count: number): boolean {
	if (text.length <= count) return false
	if (text.length > count * 2) return true
	let points = 0
	for (const _ of text) points++
	return points > count
}

/** Notes a number that is too small or too large. */
export function measureNumber(problems: Detail[], { min, max }: Plan, value: number): number {
	if (min !== undefined && value < min) note(problems, 'min', `must be at least ${min}`)
	if (max !== undefined && value > max) note(problems, 'max', `must be at most ${max}`)
	return value
}

/** Notes too few or too many items; answers whether they are few enough to be looked at. */
export function measureItems(problems: Detail[], { min, max }: Plan, count: number): boolean {
	if (min !== undefined && count < min) note(problems, 'min', `must have at least ${counted(min, 'item')}`)
	if (max === undefined || count <= max) return true
	note(problems, 'max', `must have at most ${counted(max, 'item')}`)
	return false
}

function counted(count: number, noun: string): string {
	return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}
