/** Content negotiation by `Accept` (RFC 9110 §12.5.1): problem details for errors, pages for the explorer. */

const PROBLEM = 'application/problem+json'
const HTML = 'text/html'
const JSON_RANGES = ['application/json', 'application/*', '*/*']

/**
 * Whether errors are sent as `application/problem+json` (RFC 9457): if Accept names it, and gives plain JSON, by name
 * or by wildcard, no higher quality. Most clients don't name it, so their header isn't parsed.
 */
export function prefersProblem(accept: string | undefined): boolean {
	if (accept === undefined || !accept.toLowerCase().includes(PROBLEM)) return false
	const qualities = qualitiesOf(accept)
	const problem = qualities.get(PROBLEM) ?? 0
	return problem > 0 && problem >= jsonQuality(qualities)
}

/**
 * Whether a page is preferred to JSON: if Accept names `text/html`, and gives JSON, by name or by wildcard, a lower
 * quality. Browsers do so for navigation; `fetch` and curl accept anything.
 */
export function prefersHtml(accept: string | undefined): boolean {
	if (accept === undefined || !accept.toLowerCase().includes(HTML)) return false
	const qualities = qualitiesOf(accept)
	return (qualities.get(HTML) ?? 0) > jsonQuality(qualities)
}

/** Maximum number of ranges that are parsed: browsers send eight, an attacker could send thousands. */
const MAX_RANGES = 100

/** The quality of each range; 0 if the quality is malformed. */
export function qualitiesOf(accept: string): ReadonlyMap<string, number> {
	const qualities = new Map<string, number>()
	for (const range of accept.toLowerCase().split(',', MAX_RANGES)) {
		const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
		const q = parameters.find((parameter) => parameter.startsWith('q='))
		const quality = q === undefined ? 1 : Number(q.slice(2))
		qualities.set(type, quality >= 0 && quality <= 1 ? quality : 0)
	}
	return qualities
}

/** The quality of JSON, from the most specific range that includes it (RFC 9110 §12.5.1). */
function jsonQuality(qualities: ReadonlyMap<string, number>): number {
	return JSON_RANGES.map((range) => qualities.get(range)).find((quality) => quality !== undefined) ?? 0
}

/**
 * Which of these types is preferred to JSON; `undefined` for none. Accept must name the type, with a higher quality than
 * `application/json`, or, if that isn't named, at least the quality of the wildcard that covers it: `text/csv, *\/*` prefers
 * CSV, `application/json, text/csv` doesn't.
 */
export function preferredToJson<T extends string>(
	accept: string | undefined,
	types: readonly T[],
): T | undefined {
	if (accept === undefined) return undefined
	const lower = accept.toLowerCase()
	if (!types.some((type) => lower.includes(type))) return undefined
	const qualities = qualitiesOf(lower)
	const named = qualities.get('application/json')
	const [best] = types.toSorted((a, b) => (qualities.get(b) ?? 0) - (qualities.get(a) ?? 0))
	const quality = best === undefined ? 0 : (qualities.get(best) ?? 0)
	const isPreferred = quality > (named ?? 0) && (named !== undefined || quality >= jsonQuality(qualities))
	return isPreferred ? best : undefined
}
