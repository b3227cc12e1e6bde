/** What is called around the methods of a mount, in its order: of the server, and of the handler. */

export interface Hook {
	/** As messages call it: `Blog.before()`. */
	readonly name: string
	/** `given` is the value of `after`, the error of `onError`. */
	readonly run: (view: object, given: unknown) => unknown
}

export interface Hooks {
	readonly before: readonly Hook[]
	readonly after: readonly Hook[]
	readonly onError: readonly Hook[]
}

/** What a hook has returned, for the message that it should not have. */
export function kindOf(value: unknown): string {
	if (typeof value !== 'object' || value === null) return `a ${typeof value}`
	const name: unknown = value.constructor?.name
	return typeof name === 'string' && name !== 'Object' ? `an instance of ${name}` : 'an object'
}
