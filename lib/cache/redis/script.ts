/** Scripts, which Redis runs in one step, and how they are sent. */
import { hash } from 'node:crypto'
import { isUnknownScript } from './errors.ts'

/** A script of Lua, with the name that Redis has for it once it was run. */
export interface Script {
	readonly text: string
	readonly sha1: string
}

export function scriptOf(source: string): Script {
	const text = source.trim()
	return { text, sha1: hash('sha1', text) }
}

/** Sends a command, and answers what Redis does. */
export type Ask = (...command: readonly string[]) => Promise<unknown>

/** Runs a script by its name; by its text where Redis doesn't know it, as after a restart: nothing was done then. */
export async function runScript(
	ask: Ask,
	{ text, sha1 }: Script,
	...args: readonly string[]
): Promise<unknown> {
	try {
		return await ask('EVALSHA', sha1, ...args)
	} catch (error) {
		if (!isUnknownScript(error)) throw error
		return ask('EVAL', text, ...args)
	}
}
