/**
 * Timestamps in SQLite, which has no type for them: one column holds them in one form, so that they compare
 * and sort as they are stored. Which one is seen at open, from the column's default or its first value.
 */
import type { Value } from '../model.ts'

/** How a column holds its timestamps. */
export interface MomentForm {
	/**
	 * - `wire`: `2026-11-20T13:45:00.123Z`, where nothing else is seen
	 * - `spaced`: `2026-11-20 13:45:00`, as `current_timestamp` writes it
	 * - `seconds`, `milliseconds`: numbers, since 1970
	 */
	readonly kind: 'wire' | 'spaced' | 'seconds' | 'milliseconds'
	/**
	 * Digits of a second. On the wire exactly as many, for one more or less would change the order of texts that
	 * end with `Z`; spaced, at least as many.
	 */
	readonly digits: number
}

const WIRE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/

/** The form of a column by its default, its first value, and the digits that were declared: `datetime(6)`. */
export function momentForm(
	defaultSql: string | null,
	value: unknown,
	declared: number | undefined,
): MomentForm {
	return (
		formOfDefault(defaultSql ?? '') ??
		formOfValue(value) ?? { kind: 'wire', digits: Math.min(9, Math.max(3, declared ?? 3)) }
	)
}

function formOfDefault(sql: string): MomentForm | undefined {
	if (/^[\s(]*(?:current_timestamp\b|datetime\s*\()/i.test(sql)) return { kind: 'spaced', digits: 0 }
	if (/^[\s(]*strftime\s*\(\s*'%Y-%m-%d %H:%M:%f'/i.test(sql)) return { kind: 'spaced', digits: 3 }
	if (/^[\s(]*(?:cast\s*\(\s*)?(?:unixepoch\s*\(|strftime\s*\(\s*'%s')/i.test(sql)) {
		return { kind: 'seconds', digits: 0 }
	}
	return undefined
}

function formOfValue(value: unknown): MomentForm | undefined {
	if (typeof value === 'string') {
		const spaced = SPACED.exec(value)
		if (spaced !== null) return { kind: 'spaced', digits: spaced[3]?.length ?? 0 }
		const digits = WIRE.exec(value)?.[2]?.length ?? 3
		return { kind: 'wire', digits: Math.max(3, digits) }
	}
	if (typeof value !== 'bigint' && typeof value !== 'number') return undefined
	return { kind: Math.abs(Number(value)) >= 1e11 ? 'milliseconds' : 'seconds', digits: 0 }
}

/** A timestamp of the wire as the column holds it. */
export function storedMoment(value: Value, { kind, digits }: MomentForm): unknown {
	const match = typeof value === 'string' ? WIRE.exec(value) : null
	if (match === null) return value
	const [, second = '', given = ''] = match
	if (kind === 'wire') return `${second}.${given.padEnd(digits, '0').slice(0, digits)}Z`
	const fraction = given.replace(/0+$/, '')
	return kind === 'spaced' ? spaced(second, fraction.padEnd(digits, '0')) : counted(second, fraction, kind)
}

function spaced(second: string, fraction: string): string {
	return second.replace('T', ' ') + (fraction === '' ? '' : `.${fraction}`)
}

function counted(second: string, fraction: string, kind: MomentForm['kind']): number {
	const milliseconds = Date.parse(`${second}Z`)
	if (kind === 'seconds') return milliseconds / 1000 + Number(`0.${fraction === '' ? '0' : fraction}`)
	return milliseconds + Number(`${fraction.slice(0, 3).padEnd(3, '0')}.${fraction.slice(3) || '0'}`)
}

/** A form as the text of a column's `storage`, and back: `wire3`. */
export function storageOf({ kind, digits }: MomentForm): string {
	return `${kind}${digits}`
}

export function formOf(storage: string | undefined): MomentForm {
	const [, kind, digits] = /^(wire|spaced|seconds|milliseconds)(\d)$/.exec(storage ?? '') ?? []
	switch (kind) {
		case 'spaced':
		case 'seconds':
		case 'milliseconds':
			return { kind, digits: Number(digits) }
		default:
			return { kind: 'wire', digits: Number(digits ?? 3) }
	}
}
