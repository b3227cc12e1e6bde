/** The workloads over HTTP. */
import { type App, appWith, type Shape } from './app.ts'
import { RELATED_WORKLOADS } from './crud/related/workloads.ts'
import { CRUD_WORKLOADS } from './crud/workloads.ts'
import { PEERS } from './peers.ts'
import { draw, pick, type Random } from './random.ts'
import { article, get, id, pathOf, post } from './requests.ts'
import type { Prepared, Workload } from './workload.ts'

/** Where a custom route's placeholder can stand. */
export const SHAPES: readonly Shape[] = ['literal', 'last', 'first']
/** How many custom routes are tried. */
export const SIZES: readonly number[] = [10, 1_000, 10_000]

/** All workloads over HTTP, in the order in which they run. */
export const WORKLOADS: readonly Workload[] = [
	plain('small-get', 200, (random) => get(`/api/user/${id(random)}`)),
	plain('list-100', 200, () => get('/api/list')),
	posting('post-200b', 200),
	posting('post-10kb', 10_000),
	plain('not-found', 404, (random) => get(`/api/missing/${id(random)}`)),
	...SHAPES.flatMap((shape) => SIZES.map((size) => routing(shape, size))),
	...CRUD_WORKLOADS,
	...RELATED_WORKLOADS,
]

function plain(name: string, status: number, request: (random: Random) => Buffer): Workload {
	return serverOnly(name, status, () => prepared(appWith(), draw(4_096, request)))
}

function posting(name: string, bytes: number): Workload {
	return serverOnly(name, 200, () => ({
		...prepared(
			appWith(),
			draw(256, (random) => post('/api/article', article(random, bytes))),
		),
		refused: draw(1, (random) => broken(article(random, bytes))).flat(),
	}))
}

/** One invalid request per rule: a server that accepts one of them doesn't validate. */
function broken(body: string): Buffer[] {
	const good = JSON.parse(body) as Record<string, unknown>
	const wrong: Record<string, unknown>[] = [
		{ title: '' },
		{ title: undefined },
		{ email: 'not an address' },
		{ age: 200 },
		{ tags: [{}] },
	]
	if ('items' in good) wrong.push({ items: [{ sku: '' }] }, { text: 'x'.repeat(10_001) })
	return wrong.map((fields) => post('/api/article', JSON.stringify({ ...good, ...fields })))
}

function routing(shape: Shape, size: number): Workload {
	return serverOnly(`routes-${shape}-${size}`, 200, () => {
		const app = appWith(size, shape)
		return prepared(
			app,
			draw(20_000, (random) => get(pathOf(pick(app.routes, random), random))),
		)
	})
}

function serverOnly(name: string, status: number, prepare: () => Prepared): Workload {
	return { name, status, peers: PEERS, lenient: true, prepare: async () => prepare() }
}

function prepared(app: App, requests: readonly Buffer[]): Prepared {
	return { app, series: [{ name: '', requests: () => requests }], refused: [] }
}
