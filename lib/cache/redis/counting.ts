/** `increment` as a script, which Redis runs in one step: no counter is ever without a time, or counted in two. */
import { type Script, scriptOf } from './script.ts'

/**
 * Answers the new number, or nil for what isn't a whole number below 2^53 - 1. Beyond that the number would not
 * come back as it is, and Redis' own INCR goes on to 2^63. The number is a text, for clients differ in how they
 * read numbers of 16 digits. A key that somebody else left without a time gets one.
 *
 * @param before what is run, and may return, before a counter is begun
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
