/** The minimum on node:http with our models: only reads of single records. */
import { createServer } from 'node:http'
import { openModel } from './models.js'

const FIELDS = 'id, author_id, title, body, status, views, rating, published, created, updated'.split(', ')
const SELECTION = { fields: FIELDS, names: FIELDS, version: undefined }
const PATH = '/api/article/'

export async function start({ database, url, tables }) {
	const model = await openModel(database, url, tables.article)
	const server = createServer(async (req, res) => {
		const { json } = await model.read(req.url.slice(PATH.length), SELECTION, undefined)
		const text = `{"success":true,"data":${json}}`
		res.writeHead(200, {
			'Content-Type': 'application/json; charset=utf-8',
			'Content-Length': Buffer.byteLength(text),
			'X-Content-Type-Options': 'nosniff',
		})
		res.end(text)
	})
	return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)))
}
