/** `trustProxy`: which proxies' X-Forwarded-* headers are trusted. For `server/`, which reads the option. */
import { BlockList, isIP } from 'node:net'
import { refusal } from '../base/options.ts'
import type { Proxies } from '../exchange/app.ts'
import type { Incoming } from '../request/incoming.ts'
import { isHost } from './admission.ts'

/**
 * Addresses and CIDR ranges of the proxies in front (`['10.0.0.0/8', '::1']`), or the number of proxies. Not `true`,
 * with which every client could forge its address.
 */
export type TrustProxy = number | readonly string[]

type Trusts = (address: string, hop: number) => boolean

/**
 * Reads the X-Forwarded-* headers of trusted proxies; without the option, none is trusted.
 *
 * @throws TypeError unless `trust` is a number of hops or a list of addresses
 */
export function proxiesOf(trust: TrustProxy | undefined): Proxies {
	const trusts = trustOf(trust)
	return {
		address(incoming) {
			const peer = peerOf(incoming)
			return trusts === undefined ? peer : clientOf(peer, listOf(incoming, 'x-forwarded-for'), trusts)
		},
		forwarded:
			trusts &&
			((incoming, header) => {
				const value = trusts(peerOf(incoming), 0) ? listOf(incoming, header).at(-1) : undefined
				// The proxy may pass on what the client has sent.
				return header === 'x-forwarded-host' && !isHost(value ?? '') ? undefined : value
			}),
	}
}

function peerOf({ socket }: Incoming): string {
	return normalize(socket?.remoteAddress ?? '')
}

/** Reads from the right: each proxy appends its caller's address; entries left of an untrusted one may be forged. */
function clientOf(peer: string, forwarded: readonly string[], trusts: Trusts): string {
	let address = peer
	for (let hop = 0; hop < forwarded.length && trusts(address, hop); hop++) {
		const caller = normalize(forwarded[forwarded.length - 1 - hop] ?? '')
		if (isIP(caller) === 0) break
		address = caller
	}
	return address
}

function listOf(incoming: Incoming, header: string): string[] {
	const value = incoming.headers[header]
	if (value === undefined) return []
	return String(value)
		.split(',')
		.map((entry) => entry.trim())
		.filter((entry) => entry !== '')
}

function trustOf(trust: TrustProxy | undefined): Trusts | undefined {
	if (trust === undefined) return undefined
	if (typeof trust === 'number' && Number.isInteger(trust) && trust > 0) return (_address, hop) => hop < trust
	const hint = (trust as unknown) === true ? ' (true would let every client write its own address)' : ''
	const what = `a number of proxies, or a list of their addresses and CIDR ranges${hint}`
	if (!Array.isArray(trust)) throw refusal('trustProxy', what, trust)
	const list = new BlockList()
	for (const [at, entry] of trust.entries()) addRange(list, `trustProxy[${at}]`, entry)
	return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function addRange(list: BlockList, where: string, entry: unknown): void {
	const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(String(entry)) ?? []
	const version = isIP(address)
	const bits = prefix === undefined ? undefined : Number(prefix)
	if (version === 0 || (bits ?? 0) > (version === 6 ? 128 : 32)) {
		throw refusal(where, "an address or a CIDR range, '10.0.0.1', '10.0.0.0/8' or '::1'", entry)
	}
	const family = version === 6 ? 'ipv6' : 'ipv4'
	if (bits === undefined) list.addAddress(address, family)
	else list.addSubnet(address, bits, family)
}

/**
 * An address without its port. An IPv4-mapped address (`::ffff:10.0.0.1`, from a dual-stack socket) becomes plain IPv4.
 */
function normalize(address: string): string {
	const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1]
	const bare = bracketed ?? address.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
	return /^::ffff:(\d+(?:\.\d+){3})$/i.exec(bare)?.[1] ?? bare
}
