/** What is sent to Redis: encoded keys, and Lua scripts, which run atomically, among them `increment`. */
import { hash } from 'node:crypto'
import { isUnknownScript } from './redis-link.ts'

/** A Lua script, with the hash that identifies it once Redis has run it. */
export interface Script {
	readonly text: string
	readonly sha1: string
}

export function scriptOf(source: string): Script {
	const text = source.trim()
	return { text, sha1: hash('sha1', text) }
}

/** Sends a command and returns the reply. */
export type Send = (...command: readonly string[]) => Promise<unknown>

/** Runs a script by its hash; by its text if Redis doesn't have it, as after a restart. */
export async function runScript(
	send: Send,
	{ text, sha1 }: Script,
	...args: readonly string[]
): Promise<unknown> {
	try {
		return await send('EVALSHA', sha1, ...args)
	} catch (error) {
		if (!isUnknownScript(error)) throw error
		return send('EVAL', text, ...args)
	}
}

/**
 * `increment`, which sets the time to live atomically. Returns the new number, or nil if the value isn't a whole number below
 * 2^53 - 1: Redis' INCR counts to 2^63, but JavaScript loses precision above 2^53. The number is returned as text, because
 * clients differ in how they parse 16 digits. A counter without a time to live gets one.
 *
 * @param before Lua that runs before a new counter is stored, and may return early
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

/** Encodes a key, or a part of one, in UTF-8; different keys stay different. */
export function redisKey(key: string): string {
	return NEEDS_UTF16.test(key) ? UTF16_PREFIX + Buffer.from(key, 'utf16le').toString('hex') : key
}

const UTF16_PREFIX = '\0utf16:'

/**
 * Matches keys with a lone surrogate, which UTF-8 encoding replaces with U+FFFD, so that different keys would collide; and
 * keys that start with NUL, as encoded keys and the cache's own do.
 */
const NEEDS_UTF16 = /^\0|\p{Surrogate}/u
