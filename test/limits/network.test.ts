import * as assert from 'uvu/assert'
import { networksOf } from '../../lib/limits/network.ts'
import { describe } from '../helpers/describe.ts'

describe('limit/network', (test) => {
	const cases: readonly (readonly [address: string, network: string])[] = [
		['192.0.2.1', '192.0.2.1'],
		['', ''],
		['not an address', 'not an address'],
		['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
		['2001:DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1'],
		['2001:db8:0:1::', '2001:db8:0:1'],
		['2001:db8::1', '2001:db8:0:0'],
		['2001:db8:1::2:3:4', '2001:db8:1:0'],
		['::1', '0:0:0:0'],
		['::', '0:0:0:0'],
		['::ffff:192.0.2.1', '192.0.2.1'],
		['::ffff:c000:201', '192.0.2.1'],
		['64:ff9b::192.0.2.1', '192.0.2.1'],
		['64:ff9b::c000:202', '192.0.2.2'],
		['64:ff9b:1::c000:202', '64:ff9b:1:0'],
		['1::192.0.2.1', '1:0:0:0'],
		['fe80::1%eth0', 'fe80:0:0:0'],
		['1:2:3:4:5:6:7::', '1:2:3:4'],
		['1::8', '1:0:0:0'],
		['::3:4:5:6:7:8', '0:0:3:4'],
	]
	for (const [address, network] of cases)
		test(`${address || 'nothing'} is of ${network || 'nothing'}`, () => {
			assert.is(networksOf(address).own, network)
		})

	const wider: readonly (readonly [address: string, networks: readonly [string, string] | undefined])[] = [
		['192.0.2.1', undefined],
		['::ffff:192.0.2.1', undefined],
		['64:ff9b::192.0.2.1', undefined],
		['', undefined],
		['2001:db8:1:ab12::1', ['2001:db8:1:ab00/56', '2001:db8:1/48']],
		['2001:db8:1:abff::1', ['2001:db8:1:ab00/56', '2001:db8:1/48']],
		['2001:db8:1:12::1', ['2001:db8:1:0/56', '2001:db8:1/48']],
		['::1', ['0:0:0:0/56', '0:0:0/48']],
	]
	for (const [address, networks] of wider)
		test(`${address || 'nothing'} is of the wider networks ${networks?.join(' and ') ?? 'none'}`, () => {
			assert.equal(networksOf(address).wider, networks)
		})
})
