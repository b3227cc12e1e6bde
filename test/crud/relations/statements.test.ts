/** How many statements a request with relations takes: as many for 100 records as for one. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions } from '../../../lib/index.ts'
import type { Rows as Ran } from '../../../lib/models/sql/driver.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { type Counted, statementsOf } from '../../helpers/statements.ts'
import { type Models, openStore, type Row, type Rows, type Store } from '../over/relations/stores.ts'
import { storesHere } from '../over/stores.ts'

const OPTIONS = { columns: 'camelCase', limit: 5, includeDepth: 3 } satisfies Partial<CrudOptions>
const SIZES = [1, 10, 100]

/** With scopes, because these are in the statements too. */
class Shown extends CrudHandler {
	override scope() {
		return { hidden: false }
	}
}

class Titled extends CrudHandler {
	override stripObject(person: Record<string, unknown>) {
		return { ...person, name: `Dr ${person.name}` }
	}
}

function handlersOf({ person, article, comment, tag, tie }: Models) {
	const people = new CrudHandler(person, { ...OPTIONS, visible: ['id', 'name'] })
	const profiles = new Titled(person, { ...OPTIONS, visible: ['id', 'name'] })
	const comments = new Shown(comment, {
		...OPTIONS,
		visible: ['articleId', 'n', 'text'],
		relations: { author: { to: people }, profile: { to: profiles } },
	})
	const tags: CrudHandler = new CrudHandler(tag, {
		...OPTIONS,
		visible: ['id', 'word'],
		relations: { articles: { to: () => articles, through: tie, limit: 2 } },
	})
	const articles: CrudHandler = new CrudHandler(article, {
		...OPTIONS,
		visible: ['id', 'title', 'score'],
		relations: {
			author: { to: people, by: 'authorId' },
			profile: { to: profiles, by: 'authorId' },
			parent: { to: () => articles },
			children: { to: () => articles, many: true },
			comments: { to: comments },
			tags: { to: tags, through: tie },
			labels: { to: new Titled(tag, { ...OPTIONS, visible: ['id'] }), through: tie },
		},
	})
	return { articles }
}

function counted(count: number, make: (id: number) => Row): Row[] {
	return Array.from({ length: count }, (_, at) => make(at + 1))
}

/** 100 articles, each with 6 comments, of which one is hidden, and 3 tags. */
const ROWS: Rows = {
	person: counted(10, (id) => ({ id, name: `Person ${id}`, team: 'red', secret: null })),
	article: counted(100, (id) => ({
		...{ id, title: `Title ${id}`, author_id: (id % 10) + 1, parent_id: Math.ceil(id / 3) },
		score: id % 7,
	})),
	comment: counted(600, (at) => ({
		...{ article_id: Math.ceil(at / 6), n: (at % 6) + 1, author_id: (at % 10) + 1 },
		...{ text: `Text ${at}`, hidden: at % 6 === 0 },
	})),
	tag: counted(5, (id) => ({ id, word: `Word ${id}` })),
	tie: counted(300, (at) => ({ article_id: Math.ceil(at / 3), tag_id: (at % 3) + 1 })),
}

const FULL = encodeURIComponent(
	JSON.stringify({
		comments: { limit: 2, sort: '-n', filter: { 'author.name': 'Person 3' }, count: 'exact' },
	}),
)
const FILTER = encodeURIComponent(
	JSON.stringify({ comments: { some: { text: 'Text 7' } }, tags: { count: { gte: 1 } } }),
)

/** Requests for lists, and how many relations each includes. */
const LISTS: readonly [query: string, relations: number][] = [
	['', 0],
	['&include=author', 1],
	['&include=comments', 1],
	['&include=tags', 1],
	['&include=parent,children', 2],
	['&include=author,comments.author,parent.tags', 5],
	['&include=children.comments.author', 3],
	['&fields=title,author.name,comments.text', 2],
	[`&include=${FULL}`, 1],
	[`&filter=${FILTER}&sort=-author.name`, 0],
	[`&filter=${FILTER}&sort=-author.name&include=author,tags`, 2],
]

/** How SQLite finds the records of the lists through records in between that it runs during `work`. */
async function plansOf(work: () => Promise<unknown>): Promise<string[]> {
	const plans: Promise<Ran>[] = []
	await statementsOf('sqlite', work, (run, { text, values }) => {
		if (!text.includes('_tie" br ')) return
		plans.push(run({ text: `explain query plan ${text}`, values, writes: false }))
	})
	const details = (await Promise.all(plans)).flatMap(({ rows }) => rows.map((row) => String(row[3])))
	return [...new Set(details.filter((detail) => /^(?:SCAN|SEARCH) br?\b/.test(detail)))]
}

const names = (await storesHere()).filter((name): name is Counted => name !== 'memory')

for (const name of names) {
	describe(`statements of a request with relations: ${name}`, (test) => {
		let store: Store | undefined
		let ask: (request: string) => Promise<unknown> = async () => assert.unreachable()
		test.before(async () => {
			store = await openStore(name, 'count')
			const asked = asking(handlersOf(await store.filled(ROWS)))
			ask = async (request) => {
				const { status, text } = await asked.ask(request)
				assert.is(status, 200, `${request}: ${text()}`)
				return (JSON.parse(text()) as { data: unknown }).data
			}
		})
		test.after(() => store?.close())

		/** The statements of a list, which are as many for each size. */
		async function ofList(query: string): Promise<number> {
			const counts: number[] = []
			for (const size of SIZES) {
				const request = `/articles?limit=${size}${query}`
				counts.push(
					await statementsOf(name, async () => {
						const data = await ask(request)
						if (!query.includes('filter=')) assert.is((data as unknown[]).length, size)
					}),
				)
			}
			assert.equal(
				counts,
				counts.map(() => counts[0]),
				query,
			)
			return counts[0] ?? 0
		}

		for (const [query, relations] of LISTS) {
			test(`a list: ${decodeURIComponent(query) || 'without parameters'}`, async () => {
				const count = await ofList(query)
				if (name !== 'mariadb') assert.is(count, 1)
				else assert.ok(count >= 1 && count <= 1 + relations, `${count} statements`)
			})
		}

		test('lists within the records of lists take one statement for every hundred at most', async () => {
			const count = await statementsOf(name, () => ask('/articles?limit=100&include=tags.articles'))
			if (name !== 'mariadb') assert.is(count, 1)
			else assert.ok(count <= 1 + 1 + 3, `${count} statements`)
		})

		test('thousands of related records', async () => {
			const filter = { author: { name: { in: ['Person 3', 'Person 4'] } } }
			const include = encodeURIComponent(JSON.stringify({ comments: { limit: 100, filter } }))
			const count = await statementsOf(name, () => ask(`/articles?limit=100&include=${include}`))
			if (name !== 'mariadb') assert.is(count, 1)
			else assert.ok(count <= 2, `${count} statements`)
		})

		test('records that stripObject shows take one statement more for each relation', async () => {
			assert.is(await ofList('&include=profile'), 2)
			if (name === 'sqlite') return // it has five lists to a statement: none of them has to travel
			const count = await ofList('&include=profile,author,comments.profile')
			if (name === 'mariadb') assert.ok(count <= 5, `${count} statements`)
			else assert.is(count, 4)
		})

		test('a record', async () => {
			const count = await statementsOf(name, () => ask('/articles/1?include=author,comments.author,tags'))
			if (name !== 'mariadb') assert.is(count, 1)
			else assert.ok(count <= 5, `${count} statements`)
		})

		test('what belongs to a record takes one statement more', async () => {
			const list = await statementsOf(name, () => ask('/articles/1/comments?include=author'))
			if (name !== 'mariadb') assert.is(list, 2)
			else assert.ok(list <= 3, `${list} statements`)
			const one = await statementsOf(name, () => ask('/articles/1/author'))
			assert.is(one, 2)
		})

		if (name !== 'sqlite') return
		test('a list through records in between begins with these, and looks at no other records', async () => {
			const alone = await plansOf(() => ask('/articles/1/tags'))
			const each = await plansOf(() => ask('/articles?limit=100&include=labels'))
			for (const plan of [alone, each]) {
				assert.is(plan.length, 2)
				assert.is(plan[0], 'SEARCH b USING INTEGER PRIMARY KEY (rowid=?)')
				assert.match(plan[1] ?? '', /^SEARCH br USING COVERING INDEX \S+ \(article_id=\?\)$/)
			}
		})
	})
}
