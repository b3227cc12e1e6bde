/** The app on Koa 3 with @koa/router; @koa/bodyparser is used only on the route that has a body. */
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import Koa from 'koa'
import { checkArticle } from './check.js'

export function start({ list, routes }) {
	const app = new Koa()
	const router = new Router()
	router.get('/api/user/:id', (ctx) => {
		send(ctx, { success: true, data: { id: ctx.params.id, name: 'Ada' } })
	})
	router.get('/api/list', (ctx) => {
		send(ctx, { success: true, data: list })
	})
	router.post('/api/article', bodyParser({ enableTypes: ['json'] }), (ctx) => {
		const data = checkArticle(ctx.request.body)
		if (data === undefined) ctx.throw(422)
		send(ctx, { success: true, data })
	})
	for (const { number, segments } of routes) {
		router.get(`/api/${segments.map((segment) => segment ?? ':value').join('/')}`, (ctx) => {
			send(ctx, { success: true, data: { route: number, value: ctx.params.value } })
		})
	}
	app.use(router.routes())
	app.use((ctx) => {
		ctx.status = 404
		ctx.set('Vary', 'Accept')
		send(ctx, { success: false, error: 'Not Found', code: 'not_found' })
	})
	return new Promise((done) => {
		const server = app.listen(0, '127.0.0.1', () => done(server.address().port))
	})
}

function send(ctx, value) {
	ctx.set('X-Content-Type-Options', 'nosniff')
	ctx.body = value
}
