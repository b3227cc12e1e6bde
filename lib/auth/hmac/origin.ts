/** The option `origin` of `HmacAuthenticator`. */

/** What clients sign as `@scheme` and `@authority`. */
export interface Origin {
	readonly scheme: 'http' | 'https'
	readonly authority: string
}

/** @throws TypeError for anything but scheme, name and port */
export function originOf(origin: unknown): Origin {
	const url = typeof origin === 'string' ? parsed(origin) : undefined
	const scheme = url?.protocol === 'https:' ? 'https' : 'http'
	// `href` of an origin is the origin and a slash; whatever else it holds was meant for something else.
	if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
		throw new TypeError("origin must be scheme, name and port: 'https://api.example.com'")
	return { scheme, authority: url.host }
}

function parsed(text: string): URL | undefined {
	try {
		return new URL(text)
	} catch {
		return undefined
	}
}
