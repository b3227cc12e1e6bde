/** Expected responses, and how an actual one differs. */
import { UNTOLD } from '../server/office.ts'
import type { Answer } from './ask.ts'

/** Tests a value that can't be known exactly. */
export type Test = (found: unknown) => boolean

export interface Wanted {
	readonly status: number
	/** By lower-case name: the value, a pattern, or `undefined` if the header must be absent. */
	readonly headers?: Readonly<Record<string, string | RegExp | undefined>>
	/** The whole body, with a {@link Test} for values that can't be known. */
	readonly json?: unknown
	/** The exact bytes of the body. */
	readonly bytes?: Uint8Array
}

/** A text that isn't empty: an id, a cursor. */
export const someText: Test = (found) => typeof found === 'string' && found !== ''
export const someNumber: Test = (found) => typeof found === 'number'

/** `{"success":true,"data":…}` */
export function done(data: unknown): object {
	return { success: true, data }
}

/** `{"success":false,…}` */
export function refused(code: string, more: object = {}): object {
	return { success: false, error: someText, code, ...more }
}

/** The differences between a response and the expected one, as text; empty if there are none. */
export function wrongWith(answer: Answer, { status, headers = {}, json, bytes }: Wanted): string[] {
	const wrong: string[] = []
	if (answer.status !== status) wrong.push(`status ${answer.status} instead of ${status}`)
	const all: Wanted['headers'] = { 'x-content-type-options': 'nosniff', ...headers }
	for (const [name, wanted] of Object.entries(all)) {
		const found = answer.headers[name]?.toString()
		const fits = wanted instanceof RegExp ? found !== undefined && wanted.test(found) : found === wanted
		if (!fits) wrong.push(`${name}: ${found ?? 'none'} instead of ${wanted ?? 'none'}`)
	}
	if (answer.body.includes(UNTOLD)) wrong.push('the body tells what nobody may read')
	if (json !== undefined && !like(json, parsed(answer.body))) wrong.push('the body is another')
	if (bytes !== undefined && !answer.body.equals(bytes)) wrong.push('the bytes are others')
	return wrong
}

/** Whether a JSON value equals the expected one, with exactly the same members. */
export function like(wanted: unknown, found: unknown): boolean {
	if (typeof wanted === 'function') return (wanted as Test)(found) // the only functions among expected values
	if (typeof wanted !== 'object' || wanted === null) return Object.is(wanted, found)
	if (typeof found !== 'object' || found === null || Array.isArray(wanted) !== Array.isArray(found))
		return false
	const names = Object.keys(wanted)
	if (names.length !== Object.keys(found).length) return false
	return names.every(
		(name) => Object.hasOwn(found, name) && like(Reflect.get(wanted, name), Reflect.get(found, name)),
	)
}

function parsed(body: Buffer): unknown {
	try {
		return JSON.parse(body.toString())
	} catch {
		return undefined
	}
}
