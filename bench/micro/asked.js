/**
 * Measures a match in a table of 10,000 routes when few or all of them are requested: the search takes the same steps, but
 * less of the table is in the CPU's cache. Run it after `npm run bench -- --only match`, which builds lib:
 *
 *     node bench/micro/asked.js
 */
import { RouteTable } from '../results/dist/routing/custom/custom-routes.js'

const MATCHES = 100_000

function tableOf(count) {
	const table = new RouteTable()
	for (let index = 0; index < count; index++) table.add(`GET ${pathOf(index).join('/')}`, index)
	return table
}

function pathOf(index) {
	return ['custom', `name${(index * 7_919) % 100_003}`]
}

/** The minimum CPU time of a match over 40 rounds, in ns. Each path is a separate string. */
function cost(table, asked) {
	const paths = Array.from({ length: 10_000 }, () =>
		pathOf(Math.floor(Math.random() * asked)).map((segment) => Buffer.from(segment).toString()),
	)
	let least = Number.POSITIVE_INFINITY
	for (let round = 0; round < 40; round++) {
		const before = process.cpuUsage()
		for (let at = 0; at < MATCHES; at++) table.match('GET', paths[at % paths.length])
		const { user, system } = process.cpuUsage(before)
		least = Math.min(least, ((user + system) * 1_000) / MATCHES)
	}
	return least.toFixed(0)
}

const [few, many] = [tableOf(10), tableOf(10_000)]
console.log(`10 routes: ${cost(few, 10)} ns`)
for (const asked of [10, 1_000, 10_000])
	console.log(`10,000 routes, ${asked} of them asked for: ${cost(many, asked)} ns`)
