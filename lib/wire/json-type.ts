/** Whether a Content-Type is JSON: `application/json`, `text/json`, or the suffix of RFC 6839 under any type. */
const JSON_TYPE = /^[\w.-]+\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export function isJsonType(type: string): boolean {
	return JSON_TYPE.test(type)
}
