/** The example blog in memory, always with the same records, as `npm start` serves it. */
import { blog } from '../../examples/blog/blog.ts'
import { connect } from '../../examples/blog/database.ts'
import { fill } from '../../examples/blog/fill.ts'
import { acl, Tokens } from '../../examples/blog/keys.ts'
import { createServer } from '../../lib/index.ts'
import { Log } from '../helpers/listening.ts'

export interface BlogSite {
	readonly url: string
	/** The editor's, whose id is ruth. */
	readonly token: string
	/** Of the key ruth, base64. */
	readonly secret: string
	close(): Promise<void>
}

export async function blogSite(): Promise<BlogSite> {
	const database = await connect('sqlite::memory:')
	const tables = {
		authors: await database.open('authors'),
		articles: await database.open('articles'),
		comments: await database.open('comments'),
	}
	await fill(tables)
	const tokens = new Tokens()
	const server = createServer(blog(tables), {
		...{ authenticator: tokens.authenticator, acl, explorer: true, logger: new Log() },
		...{ openapi: { title: 'The example blog', version: '1.0.0' }, graceTimeoutSeconds: 0.1 },
	})
	const { url } = await server.listen()
	return {
		url,
		token: tokens.issue('ruth', ['editor']),
		secret: tokens.issueKey('ruth', ['editor']),
		async close() {
			await server.close()
			await database.close()
		},
	}
}
