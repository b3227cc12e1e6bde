/**
 * A blog with authors, articles and comments, kept in memory.
 *
 *     npm start
 *     PORT=8080 npm start
 *
 * Stop it with Ctrl-C: requests that are being answered are answered first.
 */
import { createServer } from '../../lib/index.ts' // you write 'verbena'
import { Blog } from './blog.ts'
import { acl, Keys } from './keys.ts'
import { articles, authors, comments } from './seed.ts'
import { Shelf } from './shelf.ts'

const ROUTES = `
  GET     /blog/api/articles                ?limit= &offset= &tag=
  GET     /blog/api/articles/<id>
  POST    /blog/api/articles                editor: title, body, authorId, tags
  PATCH   /blog/api/articles/<id>           editor: title, body, tags
  DELETE  /blog/api/articles/<id>           editor
  GET     /blog/api/articles/<id>/comments  ?limit= &offset=
  POST    /blog/api/articles/<id>/comments  reader: text
  GET     /blog/api/authors                 ?limit= &offset=
  GET     /blog/api/authors/<id>
  GET     /blog/api/authors/<id>/articles   ?limit= &offset=
`

const shelves = {
	authors: new Shelf(authors),
	articles: new Shelf(articles),
	comments: new Shelf(comments),
}
const keys = new Keys()
const editorKey = keys.issue('ruth', ['editor'])
const readerKey = keys.issue('sam', ['reader'])
const server = createServer({ 'blog/api': new Blog(shelves) }, { authenticator: keys, acl })

async function start(): Promise<void> {
	const { url } = await server.listen(portOf(process.env.PORT))
	console.log(`The blog is at ${url}\n${ROUTES}`)
	console.log(`  editor: Authorization: Bearer ${editorKey}`)
	console.log(`  reader: Authorization: Bearer ${readerKey}\n`)
	console.log(`Try: curl '${url}/blog/api/articles?limit=2&tag=verbena'`)
	process.once('SIGINT', stop).once('SIGTERM', stop)
}

async function stop(): Promise<void> {
	await server.close()
	console.log('The blog is closed')
}

function portOf(text = '3000'): number {
	const port = Number(text)
	if (/^\d+$/.test(text) && port <= 65_535) return port
	throw new RangeError(`PORT must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
}

function reasonOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error)
	if (!('code' in error) || error.code !== 'EADDRINUSE') return error.message
	return `Port ${portOf(process.env.PORT)} is taken. Choose another one: PORT=3001 npm start`
}

try {
	await start()
} catch (error) {
	console.error(reasonOf(error))
	process.exitCode = 1
}
