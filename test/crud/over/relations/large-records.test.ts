/** Large records that many records of a page include: they are read once, and a page that is too large is refused early. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../../lib/index.ts'
import { PostgresModel } from '../../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../../lib/models/sqlite/model.ts'
import { type Asking, asking } from '../../../helpers/asking.ts'
import { describe } from '../../../helpers/describe.ts'
import { SERVER } from '../../../helpers/postgres.ts'
import { opened, sqliteDrivers } from '../../../helpers/sqlite.ts'
import { type Counted, statementsOf } from '../../../helpers/statements.ts'
import { storesHere } from '../stores.ts'

const PREFIX = `overrel_large_${process.pid}`
const TABLES = ['person', 'article', 'comment'] as const

/** Person 1 has a text that hardly gets shorter when it is compressed; person 3 one that does, as JSON. */
const LARGE = Array.from({ length: 60_000 }, (_, at) => (at * 7919).toString(36))
	.join('')
	.slice(0, 300_000)
const BIOS = [LARGE, 'short', null]
const NOTES = [null, null, JSON.stringify({ x: 'x'.repeat(300_000) })]
const ARTICLES = 100
const COMMENTS = 5

/** Article `id`'s person, and its comments' person. */
const writerOf = (id: number) => (id <= 10 ? 2 - (id % 2) : 1)
const criticOf = (id: number) => (id === 50 ? 1 : id === 60 ? 3 : 2)

function creation(json: string): readonly string[] {
	return [
		`create table ${PREFIX}_person (id int primary key, bio text, note ${json})`,
		`create table ${PREFIX}_article (id int primary key, person_id int references ${PREFIX}_person (id))`,
		`create table ${PREFIX}_comment (id int primary key, article_id int references ${PREFIX}_article (id),
			person_id int references ${PREFIX}_person (id), text text)`,
		`create index ${PREFIX}_of on ${PREFIX}_comment (article_id)`,
		...BIOS.map((bio, at) => {
			const texts = [bio, NOTES[at] ?? null].map((text) => (text === null ? 'null' : `'${text}'`))
			return `insert into ${PREFIX}_person values (${at + 1}, ${texts.join()})`
		}),
		`insert into ${PREFIX}_article values ${each(ARTICLES, (id) => `(${id}, ${writerOf(id)})`)}`,
		`insert into ${PREFIX}_comment values ${each(ARTICLES * COMMENTS, (id) => {
			const article = Math.ceil(id / COMMENTS)
			return `(${id}, ${article}, ${criticOf(article)}, 'c${id}')`
		})}`,
	]
}

function each(count: number, make: (id: number) => string): string {
	return Array.from({ length: count }, (_, at) => make(at + 1)).join()
}

const personText = (id: number) =>
	`{"id":${id},"bio":${JSON.stringify(BIOS[id - 1])},"note":${NOTES[id - 1]?.replace(':', ': ') ?? 'null'}}`

/** An article with its comments, each with its person. */
function articleText(id: number, limit: number): string {
	const comments = Array.from({ length: limit }, (_, at) => {
		const number = (id - 1) * COMMENTS + at + 1
		return `{"id":${number},"text":"c${number}","person":${personText(criticOf(id))}}`
	})
	return `{"id":${id},"comments":{"data":[${comments.join()}],"meta":{"limit":${limit},"next":NEXT}}}`
}

class Seen extends CrudHandler {
	override scope() {
		return { bio: { ne: 'hidden' } }
	}
}

function handlersOf([person, article, comment]: readonly Model[]) {
	if (!person || !article || !comment) throw new Error('there are three tables')
	const people: CrudHandler = new CrudHandler(person, {
		...{ visible: 'all', relations: { articles: { to: () => articles, limit: 1 } } },
	})
	const comments = new CrudHandler(comment, {
		...{ visible: ['id', 'text'], filterable: ['id'] },
		relations: { person: { to: people }, seen: { to: new Seen(person, { visible: 'all' }) } },
	})
	const articles: CrudHandler = new CrudHandler(article, {
		...{ visible: ['id'], filterable: ['id'] },
		relations: { person: { to: people }, comments: { to: comments, limit: COMMENTS } },
	})
	return { articles, comments }
}

function cases(name: Counted, test: (promise: string, work: (asked: Asking) => Promise<void>) => void): void {
	const isSpaced = name === 'postgres' // jsonb
	const shown = (text: string) => (isSpaced ? text : text.replaceAll('{"x": ', '{"x":'))
	const bodyOf = async ({ ask }: Asking, request: string, statements: number) => {
		let body = ''
		const count = await statementsOf(name, async () => {
			const { status, text } = await ask(request)
			assert.is(status, 200, text().slice(0, 300))
			body = text()
		})
		assert.is(count, statements, request)
		return body.replaceAll(/"next":"[^"]*"/g, '"next":"…"')
	}
	const FULL = 'include=comments.person'

	test('a page without them takes one statement', async (asked) => {
		await bodyOf(asked, `/articles?limit=30&${FULL}`, 1)
		// The record behind a page isn't in it.
		await bodyOf(asked, `/articles?limit=49&${FULL}`, 1)
	})

	test('a page with them is the same, byte for byte, by one statement more', async (asked) => {
		for (const id of [50, 60]) {
			const ids = Array.from({ length: ARTICLES }, (_, at) => at + 1).filter((one) => one !== 110 - id)
			const records = ids.map((one) => articleText(one, COMMENTS).replace('NEXT', 'null'))
			const filter = encodeURIComponent(JSON.stringify({ not: { id: 110 - id } }))
			const body = await bodyOf(asked, `/articles?limit=100&filter=${filter}&${FULL}`, 2)
			const meta = '{"limit":100,"offset":0,"next":null}'
			assert.is(body, shown(`{"success":true,"data":[${records.join(',\n')}],"meta":${meta}}`))
		}
	})

	test('they are read within the scope, because they may have left it', async ({ ask }) => {
		const texts: string[] = []
		const filter = encodeURIComponent(JSON.stringify({ id: { gt: 40 } }))
		const request = () => ask(`/articles?limit=100&filter=${filter}&include=comments.seen`)
		await statementsOf(name, request, (_, { text }) => void texts.push(text))
		assert.is(texts.length, 2)
		assert.match(texts[1] ?? '', /_person" b where .*b\."bio"/)
	})

	test('a record, and what belongs to one', async (asked) => {
		const body = await bodyOf(asked, `/articles/50?${FULL}`, 1)
		assert.is(body, shown(`{"success":true,"data":${articleText(50, COMMENTS).replace('NEXT', 'null')}}`))
		const below = await bodyOf(asked, '/articles/50/comments?include=person&limit=2', 2)
		assert.match(below, JSON.stringify(LARGE))
	})

	test('records within a large record are embedded', async (asked) => {
		const body = await bodyOf(asked, '/articles?limit=20&include=person.articles', 2)
		const first = { 1: 1, 2: 2 } as Readonly<Record<number, number>>
		const records = Array.from({ length: 20 }, (_, at) => {
			const id = writerOf(at + 1)
			const articles = `"articles":{"data":[{"id":${first[id]}}],"meta":{"limit":1,"next":"…"}}`
			return `{"id":${at + 1},"person":${personText(id).slice(0, -1)},${articles}}}`
		})
		const meta = '{"limit":20,"offset":0,"next":"…"}'
		assert.is(body, shown(`{"success":true,"data":[${records.join(',\n')}],"meta":${meta}}`))
	})

	test('a page that they make too large is 400, and says where', async ({ ask }) => {
		const requests = [
			['/articles?limit=100&include=person', 'include.person'],
			['/articles?limit=100&include=person,comments.person', 'include.person and include.comments'],
			['/comments?limit=100&filter={"id":{"gt":245}}&include=person', undefined],
			[
				'/articles?limit=100&include={"comments":{"include":["person"],"limit":5,"filter":{"id":{"lt":260}}},"person":{"fields":["id"]}}',
				undefined,
			],
		] as const
		for (const [request, place] of requests) {
			const { status, text } = await ask(encodeURI(request))
			if (place === undefined) assert.is(status, 200, `${request}: ${text().slice(0, 300)}`)
			else {
				const message = `This page would have more than 8388608 bytes with ${place}: ask for fewer records with limit, or fewer fields with fields`
				assert.is(status, 400, request)
				assert.equal(JSON.parse(text()), {
					...{ success: false, error: message, code: 'too_large' },
					details: place.split(' and ').map((field) => ({
						...{ field, code: 'max', message: 'has too much for so many records' },
					})),
				})
			}
		}
	})
}

const names = await storesHere()

describe('large records within many others: SQLite', (test) => {
	const driver = sqliteDrivers.find(({ open }) => open !== undefined)
	const database = opened(driver?.open)
	let asked: Asking
	test.before(async () => {
		for (const statement of creation('json')) database.exec(statement)
		const models: Model[] = []
		for (const table of TABLES) models.push(await SqliteModel.open(database, `${PREFIX}_${table}`))
		asked = asking(handlersOf(models))
	})
	test.after(() => void database.close())
	cases('sqlite', (promise, work) => test(promise, () => work(asked)))
})

if (names.includes('postgres'))
	describe('large records within many others: PostgreSQL', (test) => {
		let pool: pg.Pool
		let asked: Asking
		test.before(async () => {
			pool = new pg.Pool({ ...SERVER, max: 2 })
			for (const statement of creation('jsonb')) await pool.query(statement)
			const models: Model[] = []
			for (const table of TABLES)
				models.push(await PostgresModel.open(pool, `${PREFIX}_${table}`, { timeoutSeconds: 60 }))
			asked = asking(handlersOf(models))
		})
		test.after(async () => {
			for (const table of TABLES.toReversed()) await pool.query(`drop table if exists ${PREFIX}_${table}`)
			await pool.end()
		})
		cases('postgres', (promise, work) => test(promise, () => work(asked)))
	})
