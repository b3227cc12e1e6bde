/** What is sent to Redis: keys as it can have them, scripts, which it runs in one step, and the script that counts. */
import { hash } from 'node:crypto'
import { isUnknownScript } from './redis-link.ts'

/** A Lua script, with the hash by which Redis knows it once it was run. */
export interface Script {
	readonly text: string
	readonly sha1: string
}

export function scriptOf(source: string): Script {
	const text = source.trim()
	return { text, sha1: hash('sha1', text) }
}

/** Sends a command and returns the reply. */
export type Ask = (...command: readonly string[]) => Promise<unknown>

/** Runs a script by its hash; by its text where Redis doesn't know it, as after a restart. */
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

/**
 * `increment`, with its time to live set in the same step. Returns the new number, or nil for what isn't a whole number
 * below 2^53 - 1, from where JavaScript loses precision while Redis' INCR goes on to 2^63. The number is a text, as clients
 * differ in how they read 16 digits. A counter left without a time to live gets one.
 *
 * @param before Lua that runs before a new counter is stored, and may return instead
 */
export function increment(before: string): Script {
	return scriptOf(`
local held = redis.pcall('GET', KEYS[1])
if held == false then
	${before}
	redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
	return '1'
end
if type(held) == 'table' then
	if string.find(held.err, 'WRONGTYPE', 1, true) then return false end
	return held
end
if held ~= '0' and not string.find(held, '^-?[1-9]%d*$') then return false end
local count = tonumber(held)
if count >= 9007199254740991 or count < -9007199254740992 then return false end
local next = redis.call('INCR', KEYS[1])
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return string.format('%.0f', next)
`)
}

export const INCREMENT = increment('')

/** A key, or a part of one, as UTF-8 can say it; different keys stay different. */
export function redisKey(key: string): string {
	return UNSAYABLE.test(key) ? MARK + Buffer.from(key, 'utf16le').toString('hex') : key
}

/** Prefix of keys that UTF-8 can't say. */
const MARK = '\0utf16:'

/**
 * Half a surrogate pair, which UTF-8 turns into U+FFFD, so that all such keys would be one; and keys that begin like an
 * encoded one or a key of our own.
 */
const UNSAYABLE = /^\0|\p{Surrogate}/u
