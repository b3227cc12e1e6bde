/** A host name whose address a test can change: `dns.lookup` of this process is replaced. */
import dns from 'node:dns'

/** Adds a host name to this process. New connections to it go to the address set last by `to`. */
export function hostName(address: string): { name: string; to(address: string): void; remove(): void } {
	const name = `primary-${process.pid}.verbena.test`
	const { lookup } = dns
	let current = address
	dns.lookup = Object.assign((host: string, ...rest: unknown[]) => {
		const callback = rest.at(-1) as (error: null, address: unknown, family?: number) => void // always the last
		const isAll = typeof rest[0] === 'object' && Reflect.get(rest[0] ?? {}, 'all') === true
		if (host !== name) Reflect.apply(lookup, dns, [host, ...rest])
		else process.nextTick(callback, null, isAll ? [{ address: current, family: 4 }] : current, 4)
	}, lookup)
	return {
		name,
		to: (next) => {
			current = next
		},
		remove: () => {
			dns.lookup = lookup
		},
	}
}
