/** The network that an address belongs to, as far as one caller is concerned. */
import { isIPv6 } from 'node:net'

/** An IPv4 address as it is; of an IPv6 address its first 64 bits, written in one way: `2001:db8:0:1`. */
export function networkOf(address: string): string {
	if (!isIPv6(address)) return address
	const [start = ''] = address.split('%')
	const [head = '', tail] = start.split('::')
	const first = groupsOf(head)
	const last = tail === undefined ? [] : groupsOf(tail)
	const zeros = Array.from({ length: tail === undefined ? 0 : 8 - first.length - last.length }, () => '0')
	const groups = [...first, ...zeros, ...last].slice(0, 4)
	return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}

/** An IPv4 address at the end stands for two groups; which they are doesn't matter to the first four. */
function groupsOf(text: string): string[] {
	if (text === '') return []
	return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
}
