/** Custom routes at full size: many random tables, what ten thousand routes cost, and hostile segments. */
import * as fc from 'fast-check'
import * as assert from 'uvu/assert'
import { RouteTable } from '../../../lib/routing/custom/custom-routes.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { agrees, cases } from './oracle.ts'

type Make = (id: string) => string

/** A pattern, and a path that it matches. */
const SHAPES: [Make, Make][] = [
	[(id) => `${id}/b/c`, (id) => `${id}/b/c`],
	[(id) => `${id}/%d`, (id) => `${id}/5`],
	[(id) => `%s/${id}`, (id) => `x/${id}`],
	[(id) => `%s/x/%d/${id}`, (id) => `y/x/5/${id}`],
	[(id) => `${id}-%d`, (id) => `${id}-5`],
	[(id) => `%d-${id}`, (id) => `5-${id}`],
	[(id) => `%s.${id}`, (id) => `x.${id}`],
	[(id) => `%s-${id}-%s`, (id) => `x-${id}-y`],
]

/** Names of one length, so that nothing but their number differs. */
const idOf = (at: number): string => `a${10_000 + ((at * 7_919) % 89_989)}`

/** CPU milliseconds of 20 rounds over 10,000 paths of `count` routes, drawn in another order than declared. */
function cost([pattern, path]: [Make, Make], count: number): number {
	const table = new RouteTable<number>()
	for (let at = 0; at < count; at++) table.add(`GET ${pattern(idOf(at))}`, at)
	const paths = Array.from({ length: 10_000 }, (_, at) => path(idOf((at * 6_007) % count)).split('/'))
	let best = Number.POSITIVE_INFINITY
	for (let round = 0; round < 20; round++) {
		const start = process.cpuUsage()
		for (const segments of paths) if (table.match('GET', segments) === undefined) assert.unreachable()
		const { user, system } = process.cpuUsage(start)
		best = Math.min(best, user + system)
	}
	return best
}

describe('RouteTable, long', (test) => {
	test('random tables match like trying each route in turn', () => {
		fc.assert(
			fc.property(cases, ([keys, segments]) => agrees(keys, segments)),
			{ numRuns: trials(5_000) },
		)
	})

	// Ten thousand routes leave the processor's cache, so some cost twice as much; a scan costs a thousand times.
	for (const shape of SHAPES) {
		test(`10,000 routes like ${shape[0]('a1')} cost about as much as 10`, () => {
			cost(shape, 1_000)
			const few = cost(shape, 10)
			const many = cost(shape, 10_000)
			assert.ok(many < 10 * few, `10 routes ${few} µs, 10,000 routes ${many} µs`)
		})
	}

	// A quadratic search would take 64 times as long for a segment 8 times as long.
	test('what a hostile segment costs grows with its length, up to 16 kB', () => {
		const table = new RouteTable<number>()
		for (let at = 0; at < 10_000; at++) table.add(`GET %s-a${at}-%s`, at)
		for (const pattern of [
			'%s-a-%s-a-%s-a-%d',
			'%s-%s-%s-%s-%s-%d',
			'%d0%d0%s',
			'%s0%d0%s0%d',
			'%d9%d9%s9%d',
		]) {
			table.add(`POST ${pattern}`, 0)
		}
		for (let at = 1; at < 30; at++) table.add(`POST %s${'a'.repeat(at)}%d`, at)
		/** CPU microseconds: the least of some, because the host's other work is counted as ours. */
		const costOf = (method: 'GET' | 'POST', segment: string): number => {
			table.match(method, [segment])
			const times = [1, 2, 3, 4, 5].map(() => {
				const start = process.cpuUsage()
				table.match(method, [segment])
				const { user, system } = process.cpuUsage(start)
				return user + system
			})
			return Math.min(...times)
		}
		for (const piece of ['a', '-a', '-a-', '-a1', '0', '9', '10', '-1', '-']) {
			for (const method of ['GET', 'POST'] as const) {
				const long = costOf(method, piece.repeat(16_384 / piece.length))
				const short = costOf(method, piece.repeat(2_048 / piece.length))
				assert.ok(
					long < 24 * short + 5_000 && long < 200_000,
					`${method} ${piece}: 2 kB took ${short} µs, 16 kB ${long} µs`,
				)
			}
		}
	})
})
