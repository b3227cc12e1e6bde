/** The options of `createServer` that are about watching requests, checked. */

export interface ObserveOptions {
	readonly logger?: object | undefined
	readonly logRequests?: boolean | undefined
	readonly serverTiming?: boolean | undefined
}

/** All there and checked. */
export interface Observing {
	/** Whether each request is a line in the log: where a logger is given, unless it is said otherwise. */
	readonly logRequests: boolean
	/** Whether answers tell how long each step took. */
	readonly serverTiming: boolean
}

/** @throws TypeError for what is neither true nor false */
export function observingOf({ logger, logRequests, serverTiming }: ObserveOptions): Observing {
	checkSwitch('logRequests', logRequests)
	checkSwitch('serverTiming', serverTiming)
	return { logRequests: logRequests ?? logger !== undefined, serverTiming: serverTiming ?? false }
}

function checkSwitch(name: string, value: unknown): void {
	if (value === undefined || typeof value === 'boolean') return
	throw new TypeError(`${name} must be true or false, got ${JSON.stringify(value)}`)
}
