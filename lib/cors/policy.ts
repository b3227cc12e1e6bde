/** Which origins may read answers, and the header lines that say so: made once, of the option `cors` (Fetch standard). */
import type { Seconds } from '../base/time.ts'

/** The policy, as its user has declared it, all there and checked. */
export interface CorsRules {
	readonly origins: '*' | readonly string[] | ((origin: string) => boolean)
	readonly credentials: boolean
	readonly maxAgeSeconds: Seconds
	/** Names of the headers that scripts may read. */
	readonly exposed: readonly string[]
}

/** What answers to one origin have. */
export interface OriginLines {
	/** Whether a script of that origin may read them. */
	readonly isAllowed: boolean
	/** Names and values in turn. */
	readonly lines: readonly string[]
}

export interface Cors {
	/** For how long a preflight's answer may be kept, as text. */
	readonly maxAge: string
	/** For an `Origin` as it came in. */
	forOrigin(origin: string | undefined): OriginLines
	/** Whether an origin is allowed by its name, and not as any is. */
	isNamed(origin: string | undefined): boolean
}

/** A serialized origin: no path, nobody's name, no list of several, and not `null`, which every sandboxed frame has. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#@\\,\s\x00-\x1f\x7f-\uffff]+$/

/** Whether a text is a scheme with a host, as browsers send it; `new URL(text)` doesn't throw then. */
export function isOrigin(text: string): boolean {
	return ORIGIN.test(text) && URL.canParse(text)
}

/**
 * The policy for rules.
 *
 * @param failed called with what a function of the user's has thrown: its origin is refused
 */
export function corsOf(rules: CorsRules, failed: (error: unknown) => void): Cors {
	const { origins, credentials } = rules
	const shared = [
		...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
		...['Access-Control-Expose-Headers', rules.exposed.join(', ')],
	]
	const linesOf = (origin: string): string[] => ['Access-Control-Allow-Origin', origin, ...shared]
	const maxAge = String(rules.maxAgeSeconds)
	if (origins === '*') {
		// Also to whoever sends no origin: caches keep it, and the answer is the same for all.
		const all = { isAllowed: true, lines: linesOf('*') }
		return { maxAge, forOrigin: () => all, isNamed: () => false }
	}
	// It must be told on every answer, refusals too, or a cache would hand one site's to another.
	const refused: OriginLines = { isAllowed: false, lines: ['Vary', 'Origin'] }
	const allowed = (origin: string): OriginLines => {
		return { isAllowed: true, lines: [...linesOf(origin), ...refused.lines] }
	}
	if (typeof origins !== 'function') {
		const known = new Map(origins.map((origin) => [origin, allowed(origin)]))
		return {
			maxAge,
			forOrigin: (origin) => known.get(origin ?? '') ?? refused,
			isNamed: (origin) => known.has(origin ?? ''),
		}
	}
	const isNamed = (origin: string | undefined): boolean =>
		origin !== undefined && isOrigin(origin) && isTrue(origins, origin, failed)
	return {
		maxAge,
		forOrigin: (origin) => (origin !== undefined && isNamed(origin) ? allowed(origin) : refused),
		isNamed,
	}
}

/** Nothing but `true` lets in: a promise, which an async function answers, would let everybody in. */
function isTrue(
	allows: (origin: string) => unknown,
	origin: string,
	failed: (error: unknown) => void,
): boolean {
	try {
		const answer = allows(origin)
		if (typeof answer === 'boolean') return answer
		if (answer instanceof Promise) answer.catch(() => {})
		throw new TypeError('cors.origins must answer true or false, at once')
	} catch (error) {
		failed(error)
		return false
	}
}
