/** Which media types are JSON, for what the server sends and the client reads. */

/** `application/json`, `text/json`, and the suffix `+json` under any type (RFC 6839). */
const JSON_TYPE = /^[\w.-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** Whether a Content-Type is JSON. */
export function isJsonType(type: string): boolean {
	return JSON_TYPE.test(type)
}
