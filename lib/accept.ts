/** What a client prefers to be told an error in (RFC 9110 §12.5.1). */

const PROBLEM = 'application/problem+json'
const JSON_RANGES = ['application/json', 'application/*', '*/*']

/**
 * Whether errors go out as `application/problem+json` (RFC 9457): when Accept names it, and gives plain
 * JSON, by name or by wildcard, no higher quality. Most clients never name it, and are answered without a
 * look at the rest.
 */
export function prefersProblem(accept: string | undefined): boolean {
	if (accept === undefined || !accept.toLowerCase().includes(PROBLEM)) return false
	const qualities = new Map<string, number>()
	for (const range of accept.toLowerCase().split(',')) {
		const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
		const q = parameters.find((parameter) => parameter.startsWith('q='))
		const quality = q === undefined ? 1 : Number(q.slice(2))
		qualities.set(type, quality >= 0 && quality <= 1 ? quality : 0)
	}
	const problem = qualities.get(PROBLEM) ?? 0
	// "The most specific reference has precedence."
	const json = JSON_RANGES.map((range) => qualities.get(range)).find((quality) => quality !== undefined)
	return problem > 0 && problem >= (json ?? 0)
}
