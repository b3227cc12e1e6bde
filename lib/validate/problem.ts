/**
 * Problems with a client's values, and the 422 with them. Messages say what would be right, never what was sent: a password
 * in the wrong field must not end up in a response or a log.
 */
import { RestError } from '../base/error.ts'
import type { Detail } from '../wire/codes.ts'
import type { SchemaIssue } from './standard-schema.ts'

/**
 * Maximum number of problems in one response. Each is longer than the bytes that cause it, so without a limit a 1 MiB
 * body could produce a 30 MiB response.
 */
export const MAX_PROBLEMS = 100

/**
 * Codes whose messages, written by schemas or checks, are whole sentences; all other messages follow the field's name.
 */
const SENTENCES: ReadonlySet<string> = new Set(['schema', 'custom'])

/** Adds a problem of the value being checked, and returns `undefined` for the value. */
export function note(problems: Detail[], code: string, message: string): undefined {
	problems.push({ field: '', code, message })
	return undefined
}

/** Maximum number of choices that a message lists. */
const MAX_LISTED = 20

/** Adds the problem that a value is none of these choices. */
export function noteChoices(problems: Detail[], choices: readonly unknown[]): undefined {
	const rest = choices.length > MAX_LISTED ? ` and ${choices.length - MAX_LISTED} more` : ''
	return note(problems, 'in', `must be one of ${choices.slice(0, MAX_LISTED).join(', ')}${rest}`)
}

/** Prefixes the fields of the problems from index `from` on with a field or index. */
export function nest(problems: Detail[], from: number, name: string | number): void {
	const inner = problems.splice(from)
	for (const { field, code, message } of inner) {
		problems.push({ field: field === '' ? String(name) : `${name}.${field}`, code, message })
	}
}

/**
 * The error for these problems.
 *
 *     422 {"success":false,"error":"email must be an email address","code":"invalid",
 *          "details":[{"field":"email","code":"email","message":"must be an email address"}]}
 */
export function invalid(problems: readonly Detail[], cause?: unknown): RestError {
	const sentences = problems.slice(0, 3).map(sentence)
	if (problems.length > 3) sentences.push(`and ${problems.length - 3} more`)
	return new RestError('invalid', sentences.join('; '), { details: problems.slice(0, MAX_PROBLEMS), cause })
}

/** `invalid` for fields of a form, which may be JSON without its Content-Type, as `curl -d` sends it. */
export function invalidForm(
	problems: readonly Detail[],
	fields: Readonly<Record<string, unknown>>,
): RestError {
	if (!isJson(fields)) return invalid(problems)
	return new RestError('invalid', 'The body is sent as a form: send Content-Type: application/json for JSON')
}

/** Whether the fields are JSON that was split at each `&` and `=`. */
function isJson(fields: Readonly<Record<string, unknown>>): boolean {
	const entries = Object.entries(fields)
	return /^\s*[{[]/.test(entries[0]?.[0] ?? '') && /[}\]]\s*$/.test(entries.at(-1)?.join('') ?? '')
}

function sentence({ field, code, message }: Detail): string {
	if (field === '') return message
	return SENTENCES.has(code) ? `${field}: ${message}` : `${field} ${message}`
}

/** How zod, valibot and arktype say that a value is missing. */
const ABSENT = /undefined|missing/

/** The issues of a schema as problems; `given` is the value that it checked. */
export function problemsOf(issues: readonly SchemaIssue[], given: unknown): Detail[] {
	if (issues.length === 0) return [{ field: '', code: 'schema', message: 'is not valid' }]
	// Copied to a plain array: arktype's is of a subclass, which `map` would return too.
	return [...issues].slice(0, MAX_PROBLEMS).map(({ message, path = [] }) => {
		const names = Array.from(path, (part) => (typeof part === 'object' ? part.key : part))
		const field = names.map(String).join('.')
		const value = names.reduce<unknown>(ownValue, given)
		if (value === undefined && ABSENT.test(message))
			return { field, code: 'required', message: 'is required' }
		return { field, code: 'schema', message: withoutValue(message, value) }
	})
}

function ownValue(holder: unknown, name: PropertyKey): unknown {
	if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return undefined
	return (holder as Record<PropertyKey, unknown>)[name] // an object with that very property
}

// What precedes the value in messages: `… but received "x"`, `…: Received "x"`, `… (was "x")`.
const BEFORE_VALUE = [' but received ', ': received ', ' (was ']

/** `message` without the value, which valibot and arktype repeat. */
function withoutValue(message: string, value: unknown): string {
	const lower = message.toLowerCase()
	const ends = BEFORE_VALUE.map((words) => lower.indexOf(words)).filter((at) => at > 0)
	const kept = message.slice(0, Math.min(message.length, ...ends))
	return containsValue(kept, value) ? 'is not valid' : kept
}

/**
 * Whether `message` contains `value`. Texts of one or two characters count only in quotes: most sentences contain them
 * by chance.
 */
function containsValue(message: string, value: unknown): boolean {
	if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return false
	const text = String(value)
	if (text.length > 2) return message.includes(text)
	return ['"', "'", '`'].some((quote) => message.includes(quote + text + quote))
}
