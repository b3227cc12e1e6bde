/** `static deprecated` of a handler class: its headers for every reply, computed at mount. */
import { nested, optional, type Readers, refusal } from '../../base/options.ts'
import { momentOf } from '../../base/time.ts'

/** A date, or its text: `'2026-06-30'`, which is midnight in UTC, or `'2026-06-30T12:00:00Z'`. */
export type Moment = Date | string

interface Facts {
	/** When it was or will be deprecated: header `Deprecation` (RFC 9745). @default none */
	readonly since?: Moment
	/** When it may stop working: header `Sunset` (RFC 8594); not before `since`. @default none */
	readonly sunset?: Moment
	/** A page about it: header `Link` with `rel="deprecation"`; `https://…`, or a path: `'/docs/v2'`. @default none */
	readonly link?: string
}

/** The type of `static override deprecated`: at least one of these. */
export type Deprecated = Facts &
	({ readonly since: Moment } | { readonly sunset: Moment } | { readonly link: string })

const EXAMPLE = "{ since: '2026-01-31', sunset: '2026-12-31', link: '/docs/v2' }"

/**
 * The headers of the class's own `deprecated`, alternating names and values; `undefined` without one. It isn't inherited,
 * so that a second version may extend a deprecated first one.
 *
 * @throws TypeError for a wrong date, link or name; RangeError for a sunset before `since`
 */
export function deprecationOf(handler: object): readonly string[] | undefined {
	const owner = handler.constructor
	if (!Object.hasOwn(owner, 'deprecated')) return undefined
	const declared: unknown = Reflect.get(owner, 'deprecated')
	if (declared === undefined) return undefined
	const what = `${owner.name || 'the handler'}.deprecated`
	const { since: began, sunset: ends, link } = read(what, declared)
	if ((began ?? ends ?? link) === undefined)
		throw new TypeError(`${what} must have at least one of since, sunset and link: ${EXAMPLE}`)
	if (began !== undefined && ends !== undefined && ends < began)
		// RFC 9745 §4: it "MUST NOT be earlier".
		throw new RangeError(
			`${what}.sunset must not be before since: ${textOf(ends)} is before ${textOf(began)}`,
		)
	const lines: string[] = []
	// A Date of structured fields: whole seconds (RFC 9651 §3.3.7).
	if (began !== undefined) lines.push('Deprecation', `@${Math.floor(began.getTime() / 1_000)}`)
	if (ends !== undefined) lines.push('Sunset', ends.toUTCString())
	if (link !== undefined) lines.push('Link', `<${link}>; rel="deprecation"`)
	return Object.freeze(lines)
}

const read = nested(EXAMPLE, {
	since: optional(dateOf),
	sunset: optional(dateOf),
	link: optional(urlOf),
} satisfies Readers<Facts>)

function dateOf(what: string, value: unknown): Date {
	const date = momentOf(value)
	// Neither header can express other years.
	if (date !== undefined && date.getTime() >= 0 && date.getUTCFullYear() <= 9_999) return date
	const text = "text like '2026-01-31' or '2026-01-31T12:00:00Z'"
	throw refusal(what, `a Date, or ${text}, from 1970 to 9999`, value)
}

function textOf(date: Date): string {
	return date.toISOString().replace('T00:00:00.000Z', '')
}

/** An escaped URL, which is safe in a header. */
function urlOf(what: string, link: unknown): string {
	if (typeof link === 'string') {
		// `//host` and `/\host` lead to another site.
		if (/^\/(?![/\\])/.test(link)) {
			const { pathname, search, hash } = new URL(link, 'http://localhost')
			return pathname + search + hash
		}
		if (/^https?:\/\//i.test(link) && URL.canParse(link)) return new URL(link).href
	}
	throw refusal(what, "a URL, 'https://…', or a path, '/docs/v2'", link)
}
