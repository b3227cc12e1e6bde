/** The app on Verbena, from the published build: each route is a method. */
import { createServer, RestHandler } from '../results/dist/index.js'

/** @param options options of the server, over the defaults */
export async function start({ list, routes }, options = {}) {
	class Bench extends RestHandler {
		customRoutes = Object.fromEntries(
			routes.map(({ number, segments }) => [
				`GET ${segments.map((s) => s ?? '%s').join('/')}`,
				`route${number}`,
			]),
		)

		get_user(id) {
			return { id, name: 'Ada' }
		}

		get_list() {
			return list
		}

		post_article() {
			return this.getParams(ARTICLE)
		}
	}
	for (const { number } of routes) {
		Bench.prototype[`route${number}`] = (value) => ({ route: number, value })
	}
	const server = createServer({ api: new Bench() }, { keepAliveTimeoutSeconds: 5, ...options })
	const { port } = await server.listen(0, '127.0.0.1')
	return port
}

const ARTICLE = {
	title: ['required', 'string', { min: 1, max: 200 }],
	email: ['required', 'email'],
	age: ['required', 'integer', { min: 0, max: 150 }],
	tags: ['required', { of: ['string', { min: 1, max: 30 }], max: 20 }],
	text: ['string', { max: 10_000 }],
	items: [
		{
			of: [
				{
					fields: {
						sku: ['required', 'string', { min: 1, max: 20 }],
						count: ['required', 'integer', { min: 0, max: 1_000 }],
					},
				},
			],
			max: 200,
		},
	],
}
