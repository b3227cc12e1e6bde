/**
 * `remember`: an expensive value is loaded once for all concurrent requests, and cached.
 *
 *     npx tsx examples/08-cache.ts
 */
import { setTimeout } from 'node:timers/promises'
import { createServer, RestHandler, remember } from '../lib/index.ts' // you write 'verbena'

const station = {
	asked: 0,
	async measure() {
		this.asked++
		await setTimeout(50) // a slow service
		return { degrees: 21.5 }
	},
}

class Weather extends RestHandler {
	async get_weather() {
		const weather = await remember(this.cache, 'weather', 60, () => station.measure()) // 60 seconds
		return { ...weather, asked: station.asked }
	}
}

const server = createServer({ api: new Weather() })
const replies = await Promise.all([1, 2, 3].map(() => server.inject({ url: '/api/weather' })))
for (const reply of replies) console.log(reply.text())

/*
{"success":true,"data":{"degrees":21.5,"asked":1}}
{"success":true,"data":{"degrees":21.5,"asked":1}}
{"success":true,"data":{"degrees":21.5,"asked":1}}
*/
