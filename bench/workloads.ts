/** The workloads: what each asks of every server. */
import { type App, appWith, type Shape } from './app.ts'
import { type Random, seeded } from './random.ts'
import { article, get, id, pathOf, post } from './requests.ts'

/** One kind of request, asked of every peer. */
export interface Workload {
	readonly name: string
	/** Status that every answer must have. */
	readonly status: number
	/** Made when the workload's turn comes: ten thousand routes are not held by those without. */
	prepare(): Prepared
}

/** A workload's app, and the requests drawn for it. */
export interface Prepared {
	readonly app: App
	readonly requests: readonly Buffer[]
	/** Requests that all but the reference must refuse; only of workloads that validate. */
	readonly refused: readonly Buffer[]
}

/** Where a custom route's placeholder can stand. */
export const SHAPES: readonly Shape[] = ['literal', 'last', 'first']
/** How many custom routes are tried. */
export const SIZES: readonly number[] = [10, 1_000, 10_000]

/** All workloads that are asked over HTTP, in the order in which they are run. */
export const WORKLOADS: readonly Workload[] = [
	plain('small-get', 200, (random) => get(`/api/user/${id(random)}`)),
	plain('list-100', 200, () => get('/api/list')),
	posting('post-200b', 200),
	posting('post-10kb', 10_000),
	plain('not-found', 404, (random) => get(`/api/missing/${id(random)}`)),
	...SHAPES.flatMap((shape) => SIZES.map((size) => routing(shape, size))),
]

function plain(name: string, status: number, request: (random: Random) => Buffer): Workload {
	return { name, status, prepare: () => ({ app: appWith(), requests: draw(4_096, request), refused: [] }) }
}

function posting(name: string, bytes: number): Workload {
	return {
		name,
		status: 200,
		prepare: () => ({
			app: appWith(),
			requests: draw(256, (random) => post('/api/article', article(random, bytes))),
			refused: draw(1, (random) => broken(article(random, bytes))).flat(),
		}),
	}
}

/** One request for each way to break a field: whoever accepts one of them doesn't validate. */
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
	return {
		name: `routes-${shape}-${size}`,
		status: 200,
		prepare() {
			const app = appWith(size, shape)
			return {
				app,
				requests: draw(20_000, (random) => get(pathOf(pick(app.routes, random), random))),
				refused: [],
			}
		},
	}
}

function draw<T>(count: number, make: (random: Random) => T): T[] {
	const random = seeded(count)
	return Array.from({ length: count }, () => make(random))
}

/** A random entry of a list that has some. */
function pick<T>(list: readonly T[], random: Random): T {
	return list[random(list.length)] as T // random(n) is below n
}
