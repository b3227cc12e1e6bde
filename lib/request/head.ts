/** What a request's head tells beside its headers by name: the lines of a field, and whether a body follows. */
import type { Incoming } from './incoming.ts'

/**
 * The values of a field's lines, in the order of the wire; `name` is in lower case. node's own `headers` join
 * the lines of most fields, and drop all but the first of others: of what is signed nothing may be dropped.
 */
export function fieldLines({ rawHeaders }: Incoming, name: string): string[] {
	const values: string[] = []
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const other = rawHeaders[at] ?? ''
		if (other.length !== name.length) continue
		if (other === name || other.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '')
	}
	return values
}

/**
 * Whether a body comes with a request: a header says so (RFC 9112 §6.3); of HTTP/2 the headers' frame, which ends the
 * stream where there is none. What has become of the body meanwhile doesn't count: the answer is always the same.
 */
export function hasBody(incoming: Incoming): boolean {
	const { headers, stream } = incoming
	if (headers['transfer-encoding'] !== undefined) return true
	const length = headers['content-length']
	if (length !== undefined) return length !== '0'
	return incoming.httpVersionMajor === 2 && stream?.endAfterHeaders !== true
}
