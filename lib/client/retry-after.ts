/** How long a server asks to be left alone. */

/** `Retry-After` in seconds from now on, never below 0; `undefined` for none, and for what is none (RFC 9110 §10.2.3). */
export function secondsOf(retryAfter: string | null, now: number): number | undefined {
	const text = retryAfter?.trim() ?? ''
	if (/^\d+$/.test(text)) return Number(text)
	// A date has its day and its time. Others would be guessed at: `-5` is the first of May to some.
	const time = /^[A-Z][a-z]{2}.* \d\d:\d\d:\d\d/.test(text)
		? Date.parse(`${text.replace(/ GMT$/, '')} GMT`)
		: Number.NaN
	return Number.isNaN(time) ? undefined : Math.max(0, (time - now) / 1_000)
}
