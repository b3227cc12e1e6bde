/**
 * `node --import tsx bench/explain.ts`: prints PostgreSQL's plans for Verbena's and the expert's statements of the workloads
 * that filter and sort through relations. It needs the tables that `npm run bench -- --only related-postgres` has created.
 */
import pg from 'pg'
import { CrudHandler, createServer, type InjectedReply } from '../lib/index.ts'
import { PostgresModel } from '../lib/models/postgres/model.ts'
import { urlOf } from './crud/databases.ts'
import { BLOG } from './crud/related/tables.ts'
// @ts-expect-error a plain JavaScript file
import { openTexts } from './servers/related/expert-postgres.js'

/** The last statement sent to PostgreSQL by this process. */
let last: { text: string; values: unknown[] } = { text: '', values: [] }

const send = pg.Client.prototype.query
pg.Client.prototype.query = function (this: pg.Client, query: typeof last, ...rest: unknown[]) {
	if (typeof query === 'object') last = { text: query.text, values: query.values }
	return Reflect.apply(send, this, [query, ...rest])
} as typeof send

const pool = new pg.Pool({ connectionString: urlOf('postgres') })
const ask = await verbena()
const texts = openTexts({ url: urlOf('postgres'), tables: BLOG })

await explain('filter through a relation to many, Verbena', () =>
	ask('/article?limit=25&sort=-created&comments.writer=Writer+31'),
)
await explain('the same by hand', () => texts.commentedBy(25, 'Writer 31'))
await explain('sort through a relation to one, Verbena', () => ask('/article?limit=25&sort=author.name'))
await explain('the same by hand', () => texts.byAuthor(25, 0))
process.exit()

async function verbena(): Promise<(url: string) => Promise<InjectedReply>> {
	const open = (table: string) => PostgresModel.open(pool, table)
	const authors = new CrudHandler(await open(BLOG.author), { visible: 'all' })
	const comments = new CrudHandler(await open(BLOG.comment), { visible: 'all' })
	const article = new CrudHandler(await open(BLOG.article), {
		visible: 'all',
		relations: { author: { to: authors }, comments: { to: comments, limit: 5 } },
	})
	const server = createServer({ article })
	return (url) => server.inject({ url })
}

/** Prints the generic plan, which PostgreSQL makes without knowing the values and may use from the sixth execution on. */
async function explain(title: string, run: () => Promise<unknown>): Promise<void> {
	await run()
	const { text, values } = last
	const client = await pool.connect()
	const literals = values.map((value) => client.escapeLiteral(String(value)))
	await client.query('set plan_cache_mode = force_generic_plan')
	await client.query(`prepare explained as ${text}`)
	const { rows } = await client.query(
		`explain (analyze, timing off, summary off) execute explained (${literals})`,
	)
	await client.query('deallocate explained')
	client.release()
	process.stdout.write(`${title}\n\n${rows.map((row) => `    ${row['QUERY PLAN']}`).join('\n')}\n\n`)
}
