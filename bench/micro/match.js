/**
 * Finds random routes in one engine's table and reports the mean CPU time. Each path is a new string, as it is when it comes
 * from a socket: V8 caches a string's hash, so looking up the same string again would be cheaper.
 */
const [, , engine] = process.argv
/** Paths per batch: the same for ten routes as for ten thousand, so that they occupy as much of the CPU's cache. */
const BATCH = 10_000
const MILLISECONDS = 400

process.once('message', async (routes) => {
	const run = await prepare(routes)
	run(MILLISECONDS)
	process.on('message', () => process.send({ nanoseconds: run(MILLISECONDS) }))
	process.send('ready')
})
process.on('disconnect', () => process.exit())

async function prepare(routes) {
	const { input, find } = await ENGINES[engine](routes)
	for (const route of routes) expectRoute(find(input(pathOf(route))), route)
	return (milliseconds) => {
		let spent = 0
		let matches = 0
		let sum = 0
		while (spent < milliseconds) {
			const inputs = batch(routes).map(input)
			const start = process.cpuUsage()
			for (let at = 0; at < BATCH; at++) sum += find(inputs[at])
			const { user, system } = process.cpuUsage(start)
			spent += (user + system) / 1_000
			matches += BATCH
		}
		if (sum < matches * 10_000) throw new Error('some routes were not found')
		return (spent / matches) * 1e6
	}
}

/** `input` prepares a path, which isn't timed; `find` returns the number of its route. */
const ENGINES = {
	async verbena(routes) {
		const { parseTarget } = await import('../results/dist/request/url.js')
		const table = await tableOf(routes)
		return {
			input: (path) => path,
			find: (path) => table.match('GET', parseTarget(path).segments.slice(1)).value,
		}
	},
	async 'verbena match'(routes) {
		const { parseTarget } = await import('../results/dist/request/url.js')
		const table = await tableOf(routes)
		return {
			input: (path) => parseTarget(path).segments.slice(1),
			find: (segments) => table.match('GET', segments).value,
		}
	},
	'find-my-way': (routes) => findMyWay(routes, false),
	'find-my-way compiled': (routes) => findMyWay(routes, true),
}

async function tableOf(routes) {
	const { RouteTable } = await import('../results/dist/routing/custom/custom-routes.js')
	const table = new RouteTable()
	for (const { number, segments } of routes) {
		table.add(`GET ${segments.map((segment) => segment ?? '%s').join('/')}`, number)
	}
	return table
}

async function findMyWay(routes, compiled) {
	const { default: create } = await import('find-my-way')
	const router = create()
	for (const { number, segments } of routes) {
		const path = `/api/${segments.map((segment) => segment ?? ':value').join('/')}`
		router.on('GET', path, () => {}, number)
	}
	if (compiled) router.compile()
	return { input: (path) => path, find: (path) => router.find('GET', path).store }
}

/** Paths of random routes: new, flat strings. */
function batch(routes) {
	const paths = Array.from({ length: BATCH }, () => pathOf(routes[Math.floor(Math.random() * routes.length)]))
	const bytes = Buffer.from(paths.join(''), 'latin1')
	let end = 0
	return paths.map(({ length }) => {
		end += length
		return bytes.latin1Slice(end - length, end)
	})
}

function pathOf({ segments }) {
	const value = 100_000 + Math.floor(Math.random() * 900_000)
	return `/api/${segments.map((segment) => segment ?? value).join('/')}`
}

function expectRoute(found, { number, segments }) {
	if (found !== number)
		throw new Error(`${engine} found ${found} instead of ${number} for ${segments.join('/')}`)
}
