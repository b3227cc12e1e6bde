/**
 * A blog with authors, articles and comments, stored in `examples/blog/blog.db`, or in the database of `DATABASE_URL`.
 *
 *     npm start
 *     PORT=8080 npm start
 *     DATABASE_URL=postgres://user:password@127.0.0.1:5432/blog npm start
 *     DATABASE_URL=mysql://user:password@127.0.0.1:3306/blog npm start
 *
 * Stop it with Ctrl-C: it completes pending requests first.
 */
import { createServer } from '../../lib/index.ts' // you write 'verbena'
import { blog } from './blog.ts'
import { connect, type Database } from './database.ts'
import { fill } from './fill.ts'
import { acl, Tokens } from './keys.ts'

const ROUTES = `
  GET     /blog/api                 how much there is
  GET     /blog/api/articles        ?topic= &author.name= &search= &sort= &fields= &include=author,comments &limit= &count=exact
  GET     /blog/api/articles/totals?by=topic   also by=published:month, author.name; &count=exact &sort=-count
  GET     /blog/api/articles/<id>   ?fields= &include=author,comments
  POST    /blog/api/articles        editor: authorId, topic, title, body, tags
  PATCH   /blog/api/articles/<id>   editor: topic, title, body, tags
  DELETE  /blog/api/articles/<id>   editor
  GET     /blog/api/articles/<id>/comments   ?sort= &limit=
  POST    /blog/api/articles/<id>/comments   reader: text
  GET     /blog/api/authors         ?search= &sort= &limit= &offset=
  GET     /blog/api/authors/<id>    ?fields= &include=articles
  GET     /blog/api/authors/<id>/articles
  POST    /blog/api/authors         editor: name, email, about
  PATCH   /blog/api/authors/<id>    editor: name, email, about
  GET     /blog/api/comments        ?articleId= &sort= &limit= &offset=
  POST    /blog/api/comments        reader: articleId, text
  DELETE  /blog/api/comments/<id>   editor
  DELETE  /blog/api/comments        editor: ?id[in]= &name= &written[lt]=
`

async function start(): Promise<void> {
	const port = portOf(process.env.PORT)
	const database = await connect(process.env.DATABASE_URL)
	try {
		await serve(database, port)
	} catch (error) {
		// Its connections would keep the process alive.
		await database.close()
		throw error
	}
}

async function serve(database: Database, port: number): Promise<void> {
	const tables = {
		authors: await database.open('authors'),
		articles: await database.open('articles'),
		comments: await database.open('comments'),
	}
	await fill(tables)
	const tokens = new Tokens()
	const server = createServer(blog(tables), {
		authenticator: tokens.authenticator,
		acl,
		explorer: true,
		openapi: { title: 'The example blog', version: '1.0.0' },
	})
	const { url } = await server.listen(port)
	console.log(`The blog is at ${url}\nIt is kept in ${database.place}\n${ROUTES}`)
	console.log(`  editor: Authorization: Bearer ${tokens.issue('ruth', ['editor'])}`)
	console.log(`  reader: Authorization: Bearer ${tokens.issue('sam', ['reader'])}`)
	console.log(`  editor who signs: key id ruth, secret ${tokens.issueKey('ruth', ['editor'])}\n`)
	console.log(`Open ${url}/ in a browser: each URL is a page there. Described at ${url}/openapi.json`)
	console.log(`Try: curl '${url}/blog/api/articles?limit=2&topic=verbena&sort=-published&count=exact'`)
	const stop = async () => {
		await server.close()
		await database.close()
		console.log('The blog is closed')
	}
	process.once('SIGINT', stop).once('SIGTERM', stop)
}

function portOf(text = '3000'): number {
	const port = Number(text)
	if (/^\d+$/.test(text) && port <= 65_535) return port
	throw new RangeError(`PORT must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
}

function reasonOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error)
	const code = 'code' in error ? error.code : undefined
	if (code === 'EADDRINUSE')
		return `Port ${portOf(process.env.PORT)} is taken. Choose another one: PORT=3001 npm start`
	// All addresses of a host are tried; the resulting AggregateError has no message.
	if (code === 'ECONNREFUSED') return 'No database answers at DATABASE_URL: is it running?'
	return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

try {
	await start()
} catch (error) {
	console.error(reasonOf(error))
	process.exitCode = 1
}
