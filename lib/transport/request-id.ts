/** The option `requestId`: the header in which a request's id comes and goes. Checked when a server is made. */

/** Headers that frame a message, say what it is, or let somebody in: an id in their place would be taken for that. */
const TAKEN =
	/^(?:connection|keep-alive|transfer-encoding|trailer|upgrade|host|te|expect|date|vary|allow|location|accept.*|content-.*|.*cookie|.*authorization|www-authenticate|x-forwarded-.*|x-http-method-override)$/

/**
 * The header's name in lower case, as node:http names the headers of a request; `undefined` where there is none.
 *
 * @throws TypeError for what is no header's name, or has another meaning
 */
export function requestIdOf(value: unknown): string | undefined {
	if (value === undefined) return undefined
	if (typeof value === 'string' && /^[!#$%&'*+.^`|~\w-]+$/.test(value)) {
		const name = value.toLowerCase()
		if (!TAKEN.test(name)) return name
		throw new TypeError(
			`requestId must be a header of its own, such as 'X-Request-Id': ${value} has another meaning`,
		)
	}
	throw new TypeError(`requestId must be a header's name: 'X-Request-Id', got ${JSON.stringify(value)}`)
}
