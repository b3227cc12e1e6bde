/** `traceparent`: the place of a request in a trace that began elsewhere (W3C Trace Context, level 1). */

/** Version, trace id, parent id, flags; versions to come may say more behind them (§3.2, §4). */
const TRACEPARENT =
	/^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * The header as it may be passed on; `undefined` where it is none, malformed, or there are several: a trace must not be
 * restarted by what somebody else has broken (§4.3). Of a version that isn't known yet it is what version 00 says,
 * whose only flag is whether the trace is recorded.
 */
export function traceparentOf(header: unknown): string | undefined {
	if (typeof header !== 'string') return undefined
	const [, version, trace, parent, flags = '', more] = TRACEPARENT.exec(header) ?? []
	if (version === undefined || (version === '00' && more !== undefined)) return undefined
	if (version === '00') return header
	return `00-${trace}-${parent}-0${Number.parseInt(flags, 16) & 1}`
}

/** The trace's id alone, by which log lines of many servers are found; nothing where there is none. */
export function traceOf(header: unknown): { readonly traceId: string } | undefined {
	const traceparent = traceparentOf(header)
	return traceparent === undefined ? undefined : { traceId: traceparent.slice(3, 35) }
}
