/** Errors of the language that come from how a view works, with what to do about them. For the log only. */

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
	[
		/private (member|field|method)|must be an instance of class/i,
		"#private members can't be reached through a request's view: use TypeScript's private, or mount a factory, `() => new Blog()`",
	],
	[
		/read.?only property|object is not extensible/i,
		'a handler is frozen once it is mounted, so that no write of one request is seen by another or lost: keep what requests share in something the handler holds (this.stats.hits++), and declare a field without a value (article?: Article) for what belongs to one request',
	],
]

/** The same error, or one that says what to do and has it as its cause. */
export function explained(error: unknown): unknown {
	if (!(error instanceof TypeError)) return error
	const found = ADVICE.find(([pattern]) => pattern.test(error.message))
	return found === undefined ? error : new TypeError(`${error.message} (${found[1]})`, { cause: error })
}
