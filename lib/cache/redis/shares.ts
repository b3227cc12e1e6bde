/**
 * The shares of a `RedisCache`: how many bytes of Redis each purpose and each caller may fill, by the rule and constants of
 * `cache/shares.ts`. The counts are in Redis, which many processes share; each write checks and counts in one script.
 *
 * A caller's counts are in one hash, `<prefix>\0share:<purpose>:<caller>`; the sums over all callers are in another,
 * `<prefix>\0shares`. In a cluster, all keys of a caller have one hash tag at the end of the prefix, and the sums are over the callers
 * with the same tag. An entry is counted in a bucket of its purpose, named after a time at which the entry has expired.
 * Expired buckets are subtracted, and a hash expires with its last bucket. So expired entries are subtracted without a
 * search, late by at most an eighth of their time to live, or 128 ms.
 */
import type { Bytes } from '../../base/time.ts'
import { CacheFull } from '../cache.ts'
import { CALLER_FACTOR, KEPT_PART, MIN_BYTES, type Owner, PURPOSE_PART, PURPOSES } from '../shares.ts'
import { increment, redisKey, runScript, type Script, type Send, scriptOf } from './scripts.ts'

/** The bytes that are divided into shares, and the option that sets them. */
interface Room {
	readonly bytes: Bytes
	readonly limit: Bytes
	readonly option: 'maxBytes' | 'maxmemory'
}

/** An entry that counts towards a caller's share. */
interface SharedEntry {
	/** The key in Redis, with the cache's prefix. */
	readonly name: string
	readonly prefix: string
	readonly owner: Owner
	readonly room: Room
}

/** The room if neither Redis nor the option sets a limit. */
const DEFAULT_BYTES: Bytes = 1_073_741_824
/** The part of `maxmemory` that is divided: Redis needs up to a quarter more for a long text and buffers. */
const MAXMEMORY_PART = 3 / 4

/**
 * The room by the option, otherwise by Redis' `maxmemory`; `undefined` if it isn't divided into shares.
 *
 * @param parts number of such rooms, more than one in a cluster; all of them may be at one server
 */
export function roomOf(maxBytes: Bytes | undefined, maxmemory: Bytes, parts: number): Room | undefined {
	if (maxBytes === undefined && maxmemory > 0) {
		const bytes = Math.floor((MAXMEMORY_PART * maxmemory) / parts)
		return bytes < MIN_BYTES / parts ? undefined : { bytes, limit: maxmemory, option: 'maxmemory' }
	}
	const bytes = maxBytes ?? DEFAULT_BYTES
	if (bytes === Number.POSITIVE_INFINITY) return undefined
	return { bytes: Math.floor(bytes / parts), limit: bytes, option: 'maxBytes' }
}

/** Runs a script for an entry. @throws CacheFull if its share is full */
export async function runShared(
	send: Send,
	script: Script,
	{ name, owner, room, prefix }: SharedEntry,
	ttl = '0',
	text = '',
): Promise<unknown> {
	const keys = [name, `${prefix}\0share:${owner.purpose}:${redisKey(owner.caller)}`, `${prefix}\0shares`]
	// A power of two, from a 16th to an 8th of the time to live, so that entries with similar times share buckets. Nonces have
	// arbitrary times to live: with narrow buckets, each would need its own.
	const width = 2 ** Math.max(7, Math.floor(Math.log2(Number(ttl))) - 3)
	const rest = [owner.purpose, String(width), String(room.bytes), text]
	const reply = await runScript(send, script, String(keys.length), ...keys, ttl, ...rest)
	const scope = reply instanceof Uint8Array ? Buffer.from(reply).toString() : reply
	if (scope === 'caller' || scope === 'purpose') throw new CacheFull(room.limit, room.option, { scope })
	return reply
}

/** Overhead of an entry in addition to its key and text, and of a bucket for the counts. */
const ENTRY_BYTES: Bytes = 100
const BUCKET_BYTES: Bytes = 200

const purposes = PURPOSES.map((name) => `'${name}'`).join(', ')

/**
 * `read` returns a hash's counts, without expired buckets; `fullness` says which limit is reached; `add` counts an entry.
 * `HMGET` returns the expiry of the first bucket, the bytes of the entry's bucket, and the bytes of its purpose. A text counts
 * at least 17 bytes, because a counter may grow to that length.
 */
const COUNTS = `
local purpose, width, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = math.ceil((now + ARGV[1]) / width) * width
local bucket = string.format('%s:%.0f', purpose, ends)
local whole = function(number) return string.format('%.0f', number) end
local sizeOf = function(length) return ${ENTRY_BYTES} + #KEYS[1] + math.max(17, length) end

local function settle(hash)
	local fields, sums, soonest = redis.call('HGETALL', hash), {}, nil
	for at = 1, #fields, 2 do
		local of, last = string.match(fields[at], '^(%a+):(%d+)$')
		if of and tonumber(last) <= now then
			redis.call('HDEL', hash, fields[at])
			sums[of] = sums[of] or 0
		elseif of then
			sums[of] = (sums[of] or 0) + fields[at + 1]
			soonest = math.min(soonest or tonumber(last), tonumber(last))
		end
	end
	if not soonest then return redis.call('DEL', hash) end
	for of, sum in pairs(sums) do redis.call('HSET', hash, of, whole(sum)) end
	redis.call('HSET', hash, 'next', whole(soonest))
end

local function read(hash, ...)
	local fields = redis.call('HMGET', hash, 'next', bucket, purpose, ...)
	if fields[1] and tonumber(fields[1]) <= now then
		settle(hash)
		fields = redis.call('HMGET', hash, 'next', bucket, purpose, ...)
	end
	local held = { next = tonumber(fields[1] or nil), bucket = fields[2], bytes = tonumber(fields[3] or 0), sum = 0 }
	for at = 4, #fields do held.sum = held.sum + (fields[at] or 0) end
	return held
end

local own, all = read(KEYS[2]), read(KEYS[3], ${purposes})
local need = function(length)
	return sizeOf(length) + (own.bucket and 0 or ${BUCKET_BYTES})
end

local function fullness(length, given)
	local bytes = need(length)
	local others = all.sum - all.bytes
	local free = ${PURPOSE_PART} * (${KEPT_PART} * most - others) - (all.bytes - given)
	local isCallers = own.bytes - given + (free < bytes and 0 or bytes) > ${CALLER_FACTOR} * free
	if isCallers then return 'caller' end
	return free < bytes and 'purpose' or nil
end

local function add(length)
	local bytes = need(length)
	for at, held in ipairs({ own, all }) do
		local hash = KEYS[at + 1]
		redis.call('HSET', hash, purpose, whole(held.bytes + bytes), bucket, whole((held.bucket or 0) + bytes))
		if not held.bucket then
			if not held.next or ends < held.next then redis.call('HSET', hash, 'next', whole(ends)) end
			if redis.call('PTTL', hash) < ends - now then redis.call('PEXPIREAT', hash, whole(ends)) end
		end
	end
end
`.trim()

/**
 * `held` returns the size of the key's present entry, and the first bucket that may contain it: one that ends late enough and has
 * as many of the caller's bytes. It needn't be the entry's own. `giveBack` subtracts the entry.
 */
const GIVEN_BACK = `
local function held()
	local left = redis.call('PTTL', KEYS[1])
	local length = redis.pcall('STRLEN', KEYS[1])
	if left < 0 or type(length) ~= 'number' then return 0 end
	local fields, size, found, soonest = redis.call('HGETALL', KEYS[2]), sizeOf(length), nil, nil
	for at = 1, #fields, 2 do
		local last = tonumber(string.match(fields[at], ':(%d+)$'))
		if last and last >= now + left - 1 and tonumber(fields[at + 1]) >= size and not (soonest and soonest < last) then
			found, soonest = fields[at], last
		end
	end
	return found and size or 0, found
end

local function giveBack(size, from)
	for at = 2, 3 do
		redis.pcall('HINCRBY', KEYS[at], purpose, -size)
		redis.pcall('HINCRBY', KEYS[at], from, -size)
	end
end
`.trim()

/** `SET NX`. Writes before it checks the share, so that replicas refuse it, and an existing key costs one command. */
export const ADD = scriptOf(`
local added = redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[1], 'NX')
if not added then return false end
${COUNTS}
local full = fullness(#ARGV[5], 0)
if full then
	redis.call('DEL', KEYS[1])
	return full
end
add(#ARGV[5])
return added
`)

/** `SET`. An entry no larger than the one it replaces always has room. */
export const SET = scriptOf(`
${COUNTS}
${GIVEN_BACK}
local before, from = held()
local full = sizeOf(#ARGV[5]) > before and fullness(#ARGV[5], before)
if full then return full end
add(#ARGV[5])
if from then giveBack(before, from) end
return redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[1])
`)

export const DELETE = scriptOf(`
${COUNTS}
${GIVEN_BACK}
local before, from = held()
local deleted = redis.call('DEL', KEYS[1])
if from then giveBack(before, from) end
return deleted
`)

/** An existing counter can be incremented in a full share. */
export const INCREMENT_SHARED = increment(`
${COUNTS}
local full = fullness(1, 0)
if full then return full end
add(1)
`)
