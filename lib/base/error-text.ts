/** An error as text for the log: its stack, its causes, and the errors within an AggregateError. */
import { attempt } from './attempt.ts'

const MAX_ERRORS = 20
const MAX_CHARACTERS = 4_000
const MAX_FIELDS = 10
/** Fields that have their own place in the text. */
const STANDARD_FIELDS: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors'])

/** Control characters, and those that change the writing direction: they could forge or hide lines of the log. */
const CONTROL = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A text with its control characters escaped: one line. */
export function escaped(text: string): string {
	return text.replaceAll(
		CONTROL,
		(one) => SHORT_ESCAPES[one] ?? `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
	)
}

/**
 * An error and all its causes as text, each once: one line, then its stack frames.
 *
 *     ModelError: the database can't be reached
 *         at …
 *       [cause]: Error: connect ECONNREFUSED 127.0.0.1:5432 (code: "ECONNREFUSED")
 *         at …
 */
export function errorText(error: unknown): string {
	const seen = new Set<unknown>()
	const lines: string[] = []
	const write = (value: unknown, label: string, indent: string): void => {
		if (seen.has(value)) {
			lines.push(`${indent}${label}the error above`)
			return
		}
		if (seen.size >= MAX_ERRORS) {
			if (seen.size === MAX_ERRORS) lines.push(`${indent}${label}…`)
			seen.add(lines)
			return
		}
		if (typeof value === 'object' && value !== null) seen.add(value)
		const [head, ...frames] = linesOf(value)
		lines.push(`${indent}${label}${head}`, ...frames.map((frame) => `${indent}${frame}`))
		const cause = memberOf(value, 'cause')
		if (cause !== undefined) write(cause, '[cause]: ', `${indent}  `)
		const errors = memberOf(value, 'errors')
		if (!(value instanceof Error) || !Array.isArray(errors)) return
		for (const [at, one] of errors.slice(0, MAX_ERRORS).entries())
			write(one, `[errors ${at + 1} of ${errors.length}]: `, `${indent}  `)
	}
	write(error, '', '')
	return lines.join('\n')
}

/** The error in one line, then the frames of its stack. */
function linesOf(value: unknown): string[] {
	try {
		if (!(value instanceof Error))
			return [truncated(typeof value === 'string' ? JSON.stringify(value) : String(value))]
		const { name, message, stack } = value
		const head = `${truncated(message === '' ? name : `${name}: ${message}`)}${fieldsOf(value)}`
		return [head, ...framesOf(String(stack ?? ''), String(message))]
	} catch {
		return ['an error that cannot be shown']
	}
}

/** The frames after the message, which may itself contain lines that look like frames. */
function framesOf(stack: string, message: string): string[] {
	const at = stack.indexOf(message)
	const rest = at === -1 ? stack : stack.slice(at + message.length)
	const lines = rest.slice(0, MAX_CHARACTERS).split('\n').map(escaped)
	return lines.filter((line) => /^ +at /.test(line))
}

/** Fields that are strings, numbers or booleans, such as the code of a system error or the SQLSTATE of an SQL error. */
function fieldsOf(error: Error): string {
	const fields = Object.entries(error).filter(
		([name, value]) => !STANDARD_FIELDS.has(name) && ['string', 'number', 'boolean'].includes(typeof value),
	)
	if (fields.length === 0) return ''
	const shown = fields
		.slice(0, MAX_FIELDS)
		.map(([name, value]) => truncated(`${name}: ${JSON.stringify(value)}`, 500))
	return ` (${shown.join(', ')})`
}

function memberOf(value: unknown, name: 'cause' | 'errors'): unknown {
	if (typeof value !== 'object' || value === null) return undefined
	return attempt<unknown>(() => Reflect.get(value, name))
}

function truncated(text: string, max: number = MAX_CHARACTERS): string {
	return escaped(text.length > max ? `${text.slice(0, max)}…` : text)
}
