/** A decoded JSON value to a value of its field: of a body that is to be stored, or of a filter to be compared with. */

import type { Field } from '../models/model.ts'
import { note } from '../validate/problem.ts'
import type { Detail } from '../wire/codes.ts'
import { type Given, rawJson, valueFromText, withinBounds, wrongType } from './value-from-text.ts'

/**
 * The value that a body has for a field; `undefined` when a problem was noted. Null is the caller's to decide.
 * Texts stand for numbers only where JSON's own can't be exact: `bigint` and `decimal`.
 */
export function valueFromJson(field: Field, given: unknown, problems: Detail[]): Given | undefined {
	switch (field.type) {
		case 'json':
			return rawJson(given, problems)
		case 'boolean':
			return typeof given === 'boolean' ? given : wrongType(field, problems)
		case 'integer':
		case 'bigint':
			// Of -0, which databases of whole numbers don't know, + 0 makes 0.
			if (Number.isSafeInteger(given)) return withinBounds(field, Number(given) + 0, problems)
			break
		case 'float':
			if (Number.isFinite(given)) return Number(given)
			return isNotFinite(given) ? Number(given) : wrongType(field, problems)
		case 'decimal':
			if (Number.isFinite(given))
				return fitting(field, valueFromText(field, String(given), problems), problems)
			break
	}
	return field.type === 'integer' ? wrongType(field, problems) : fromString(field, given, problems)
}

/** What JSON has no number for. */
function isNotFinite(given: unknown): boolean {
	return given === 'NaN' || given === 'Infinity' || given === '-Infinity'
}

function fromString(field: Field, given: unknown, problems: Detail[]): Given | undefined {
	if (typeof given !== 'string') return wrongType(field, problems)
	return fitting(field, valueFromText(field, given, problems), problems)
}

/**
 * Notes a text that is longer than its field, characters being code points, as databases count them; and a decimal of
 * more digits, which some would round.
 */
export function fitting(
	{ maxLength, digits }: Field,
	value: Given | undefined,
	problems: Detail[],
): Given | undefined {
	if (digits !== undefined && typeof value === 'string' && !isWithin(digits, value)) {
		return note(problems, 'max', digitsAllowed(digits))
	}
	if (typeof value !== 'string' || maxLength === undefined || value.length <= maxLength) return value
	if (value.length <= maxLength * 2 && [...value].length <= maxLength) return value
	return note(problems, 'max', `must have at most ${maxLength} character${maxLength === 1 ? '' : 's'}`)
}

/** Zeros at either end are none. */
function isWithin([before, behind]: readonly [number, number], decimal: string): boolean {
	const [, whole = '', fraction = ''] = /^-?0*(\d*)(?:\.(\d*?)0*)?$/.exec(decimal) ?? []
	if (whole.length > before || fraction.length > Math.max(0, behind)) return false
	return behind >= 0 || /^0*$/.test(whole.slice(behind))
}

function digitsAllowed([before, behind]: readonly [number, number]): string {
	const most = `must have at most ${counted(before)} before the point`
	return behind < 0 ? `${most}, of which the last ${-behind} must be 0` : `${most}, and ${behind} behind it`
}

function counted(digits: number): string {
	return digits === 1 ? '1 digit' : `${digits} digits`
}

/**
 * The value that a field is compared with in a filter: as in a body, or as in a query, where everything is text
 * (`"9007199254740993"` for a bigint that JSON can't write as a number).
 */
export function operandFromJson(field: Field, given: unknown, problems: Detail[]): Given | undefined {
	if (typeof given === 'string') return valueFromText(field, given, problems)
	return valueFromJson(field, given, problems)
}
