/** The network that an address belongs to, as far as one caller is concerned. */
import { isIPv6 } from 'node:net'

/** The networks that an address is in, as far as callers are counted by them. */
export interface Networks {
	/** An IPv4 address, also one within IPv6; of other IPv6 addresses the first 64 bits, written in one way: `2001:db8:0:1`. */
	readonly own: string
	/** Of IPv6 the networks of 56 and 48 bits: a site is given one of them, and may change its 64 bits at will. */
	readonly wider: readonly [of56: string, of48: string] | undefined
}

export function networksOf(address: string): Networks {
	const groups = prefixOf(address)
	if (typeof groups === 'string') return { own: groups, wider: undefined }
	const of48 = written(groups.slice(0, 3))
	const of56 = `${of48}:${((groups[3] ?? 0) & 0xff00).toString(16)}`
	return { own: written(groups), wider: [`${of56}/56`, `${of48}/48`] }
}

/** The first four groups of an IPv6 address; any other address as it is. */
function prefixOf(address: string): string | readonly number[] {
	if (!isIPv6(address)) return address
	const [start = ''] = address.split('%')
	const [head = '', tail] = start.split('::')
	const first = groupsOf(head)
	const last = tail === undefined ? [] : groupsOf(tail)
	const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => '0')
	const groups = [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16))
	if (EMBEDDING.has(written(groups.slice(0, 6)))) return v4Of(groups.slice(6))
	return groups.slice(0, 4)
}

/** Prefixes behind which stands an IPv4 address: mapped (RFC 4291 §2.5.5.2), and by NAT64 (RFC 6052 §2.1). */
const EMBEDDING: ReadonlySet<string> = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

function written(groups: readonly number[]): string {
	return groups.map((group) => group.toString(16)).join(':')
}

function v4Of([high = 0, low = 0]: readonly number[]): string {
	return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** An IPv4 address at the end stands for two groups. */
function groupsOf(text: string): string[] {
	if (text === '') return []
	return text.split(':').flatMap((group) => {
		if (!group.includes('.')) return [group]
		const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
		return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
	})
}
