/** Which media types are JSON, for what the server sends and the client reads. */

/** Whether a Content-Type is JSON: `application/json`, `text/json`, or `+json` under any type (RFC 6839). */
export function isJsonType(type: string): boolean {
	return /^[\w.-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)
}
