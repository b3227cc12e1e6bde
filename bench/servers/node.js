/**
 * The reference: the shortest node:http code that sends the same bytes. It validates nothing, and parses only as much of the
 * URL as these paths need.
 */
import { createServer } from 'node:http'

export function start({ list, routes }) {
	const numbers = new Map(routes.map(({ number, segments }) => [segments[1] ?? segments[0], number]))
	const hole = routes[0]?.segments.indexOf(null)
	const server = createServer((req, res) => {
		const { method, url } = req
		if (method === 'GET' && url.startsWith('/api/user/')) {
			return send(res, 200, success({ id: url.slice(10), name: 'Ada' }))
		}
		if (method === 'GET' && url === '/api/list') return send(res, 200, success(list))
		if (method === 'POST' && url === '/api/article') return echo(req, res)
		const [, , first, second] = url.split('/')
		const number = numbers.get(hole === 1 ? first : second)
		if (number === undefined || method !== 'GET') return sendNotFound(res)
		send(res, 200, success({ route: number, value: hole === -1 ? undefined : hole === 0 ? first : second }))
	})
	return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)))
}

const NOT_FOUND = '{"success":false,"error":"Not Found","code":"not_found"}'
const NOT_FOUND_HEADERS = {
	'Content-Type': 'application/json; charset=utf-8',
	'Content-Length': NOT_FOUND.length,
	'X-Content-Type-Options': 'nosniff',
	Vary: 'Accept',
}

function success(data) {
	return JSON.stringify({ success: true, data })
}

function send(res, status, text) {
	res.writeHead(status, {
		'Content-Type': 'application/json; charset=utf-8',
		'Content-Length': Buffer.byteLength(text),
		'X-Content-Type-Options': 'nosniff',
	})
	res.end(text)
}

function sendNotFound(res) {
	res.writeHead(404, NOT_FOUND_HEADERS)
	res.end(NOT_FOUND)
}

function echo(req, res) {
	let text = ''
	req.setEncoding('utf8')
	req.on('data', (chunk) => {
		text += chunk
	})
	req.on('end', () => send(res, 200, success(JSON.parse(text))))
}
