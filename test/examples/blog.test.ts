/**
 * The example blog is started as users start it, on SQLite, and restarted; then, bundled into one file, on its other
 * databases.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { bundled } from '../helpers/bundled.ts'
import { curl } from '../helpers/curl.ts'
import { describe } from '../helpers/describe.ts'
import { freePorts, ROOT, type Running, run, start, typescript, untilPrinted } from '../helpers/program.ts'
import { assertPrints } from '../helpers/session.ts'
import { type Place, places, sqlitePlace } from './places.ts'

const FILE = 'examples/blog/main.ts'
const BUNDLED = await bundled(`${ROOT}/${FILE}`)

/** A blog that is running. */
interface Blog {
	readonly running: Running
	readonly port: number
	readonly api: string
	/** Does what a line of curl says; `@editor` and `@reader` stand for the header with their key. */
	ask(line: string): Promise<string>
}

async function startBlog(database: string, args: readonly string[]): Promise<Blog> {
	const [port = 0] = await freePorts(1)
	const running = start({ args, env: { PORT: String(port), DATABASE_URL: database } })
	try {
		await untilPrinted(running, 'Try: ')
	} catch (error) {
		// Nobody else knows of it, and this process would not end before it does.
		running.child.kill('SIGKILL')
		throw error
	}
	const keyOf = (role: string) =>
		new RegExp(`${role}: (Authorization: Bearer [\\w-]+)`).exec(running.output())?.[1]
	const ask = (line: string) =>
		curl(`curl ${line.replaceAll(/@(editor|reader)/g, (_, role) => `-H '${keyOf(role)}'`)}`, ROOT)
	return { running, port, api: `http://127.0.0.1:${port}/blog/api`, ask }
}

async function end(blog: Blog | undefined, signal: NodeJS.Signals): Promise<number | null | undefined> {
	blog?.running.child.kill(signal)
	return blog?.running.ended
}

const NEW = 'topic=herbs -d title=Thyme -d body=Dry.'
const CREATED = `
HTTP/1.1 201 Created
…
Location: /blog/api/articles/235
…
{"success":true,"data":{"id":235,"authorId":2,"published":"…Z","topic":"herbs","title":"Thyme","body":"Dry.","tags":[]}}`

const COMMENTED = `
HTTP/1.1 201 Created
…
Location: /blog/api/comments/252
…
{"success":true,"data":{"id":252,"articleId":235,"name":"sam","text":"Great","written":"…Z"}}`

for (const [name, make] of await places()) {
	describe(`examples/blog on ${name}`, (test) => {
		let place: Place
		let blog: Blog

		test.before(async () => {
			place = await make()
			// As `npm start` does, once.
			blog = await startBlog(place.url, name === 'SQLite' ? typescript(FILE) : BUNDLED)
		})

		test.after(async () => {
			await end(blog, 'SIGKILL')
			await place.drop()
		})

		test('prints its address, storage, routes and a first curl line', async () => {
			const said = blog.running.output()
			assert.match(
				said,
				`The blog is at http://127.0.0.1:${blog.port}
It is kept in ${place.said}
`,
			)
			const first = /^Try: (curl .*)$/m.exec(said)?.[1] ?? ''
			const answer = await curl(first, ROOT)
			assert.match(answer, '"title":"Verbena tea, hot and cold"')
			assert.match(answer, /"meta":\{"limit":2,"offset":0,"next":"[^"]+","total":3\}\}$/)
			const routes = [...said.matchAll(/^ {2}([A-Z]+) +(\/\S+)/gm)]
			assert.is(routes.length, 18)
			for (const [line, method, path = ''] of routes) {
				const url = `http://127.0.0.1:${blog.port}${path.replace('<id>', '3')}`
				const answer = await curl(`curl -i -X ${method} ${url}`, ROOT)
				assert.match(answer, method === 'GET' ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 401 /, line)
			}
		})

		test('answers the curl line of the README as shown there', async () => {
			const readme = readFileSync(`${ROOT}/README.md`, 'utf8')
			const [, line = '', answer = ''] = /^npm ci && npm start\n(curl .*) #.*\n# (.*)$/m.exec(readme) ?? []
			assert.is(await curl(line.replace(':3000', `:${blog.port}`), ROOT), answer)
			assert.match(answer, /^\{"success":true/)
		})

		test('starts with a few hundred records', async () => {
			assert.is(
				await blog.ask(blog.api),
				'{"success":true,"data":{"authors":24,"articles":234,"comments":250}}',
			)
		})

		test('exposes no e-mail address, and cannot be searched by it', async () => {
			assert.is(
				await blog.ask(`${blog.api}/authors/8`),
				'{"success":true,"data":{"id":8,"name":"Siobhán Byrne","about":"Grows leeks for the show and eats the ones that lose.","joined":"2023-05-30"}}',
			)
			const list = await blog.ask(`${blog.api}/authors?limit=100`)
			assert.not.match(list, 'example.org')
			for (const query of ['email=siobhan.byrne@example.org', 'sort=email', 'fields=email'])
				assert.match(await blog.ask(`-i '${blog.api}/authors?${query}'`), /^HTTP\/1.1 400 /)
			assert.match(await blog.ask(`${blog.api}/authors?search=siobhan.byrne`), '"data":[]')
		})

		test('shows articles with their authors and comments, and authors with their articles', async () => {
			const { ask, api } = blog
			const article = await ask(`'${api}/articles/3?fields=id&include=author,comments'`)
			const { author, comments } = JSON.parse(article).data
			assert.is(author.id, JSON.parse(await ask(`'${api}/articles/3?fields=authorId'`)).data.authorId)
			assert.equal(Object.keys(author), ['id', 'name', 'about', 'joined'])
			assert.equal(comments.data, JSON.parse(await ask(`${api}/articles/3/comments`)).data)
			const list = await ask(`-g '${api}/articles?fields=author.name&author.name[startsWith]=Siobh&limit=1'`)
			assert.match(list, '"data":[{"author":{"name":"Siobhán Byrne"}}]')
			assert.match(await ask(`'${api}/authors/8?fields=articles.title'`), '"articles":{"data":[{"title":')
		})

		test('counts articles by topic, by month and by author', async () => {
			const { ask, api } = blog
			const totals = async (query: string) =>
				JSON.parse(await ask(`-g '${api}/articles/totals?${query}&count=exact'`)).data as { count: number }[]
			const topics = await totals('by=topic&sort=-count')
			assert.is(
				topics.reduce((sum, { count }) => sum + count, 0),
				234,
			)
			const topic = Reflect.get(topics[0] ?? {}, 'topic')
			const { meta } = JSON.parse(await ask(`'${api}/articles?topic=${topic}&limit=0'`))
			assert.is(topics[0]?.count, meta.total)
			const [first] = await totals('by=published:year,author.name&author.name[startsWith]=Siobh')
			assert.equal(Object.keys(first ?? {}), ['published', 'author.name', 'count'])
		})

		test('allows writes only with the key', async () => {
			const { ask, api } = blog
			const create = `@editor -d ${NEW} ${api}/articles`
			assertPrints(await ask(`-i -d authorId=2 ${create}`), CREATED, create)
			assert.match(await ask(`-i -d authorId=99 ${create}`), /^HTTP\/1.1 409 /)
			assert.match(await ask(create), '"error":"authorId is required"')
			const article = `${api}/articles/235`
			assert.match(await ask(`-X DELETE @reader ${article}`), '"error":"Forbidden"')
			assert.match(
				await ask(`@reader -d articleId=235 -d text=Nice ${api}/comments`),
				'"articleId":235,"name":"sam","text":"Nice"',
			)
			const comment = await ask(`-i @reader -d text=Great ${article}/comments`)
			assertPrints(comment, COMMENTED, 'POST /comments')
			assert.match(await ask(`-X DELETE @editor ${api}/comments/252`), '"text":"Great"')
			assert.match(await ask(`-X DELETE @reader ${api}/comments/1`), '"error":"Forbidden"')
			const more = `@reader -d articleId=235 ${api}/comments -d text=`
			const spam = [await ask(`${more}Cheap`), await ask(`${more}Cheaper`)].map(
				(one) => JSON.parse(one).data.id,
			)
			const all = `'${api}/comments?id%5Bin%5D=${spam}'`
			assert.match(await ask(`-X DELETE @reader ${all}`), '"error":"Forbidden"')
			assert.is(await ask(`-X DELETE @editor ${all}`), `{"success":true,"data":[${spam}]}`)
			assert.match(await ask(`@editor -d name=X -d email=none ${api}/authors`), '"field":"email"')
			const author = '-d name=Bea -d email=marta.lindqvist@example.org'
			assert.match(await ask(`-i @editor ${author} ${api}/authors`), /^HTTP\/1.1 409 /)
		})

		test('updates an article only with its current version', async () => {
			const { ask, api } = blog
			const article = `${api}/articles/235`
			const tag = /^ETag: (.*)$/m.exec(await ask(`-i ${article}`))?.[1] ?? ''
			const change = (title: string) =>
				ask(`-i -X PATCH @editor -H 'If-Match: ${tag}' -d title=${title} ${article}`)
			const first = await change('Sage')
			assert.match(first, /^HTTP\/1.1 200 /)
			assert.match(first, '"title":"Sage"')
			assert.match(await change('Dill'), /^HTTP\/1.1 412 /)
		})

		test('keeps its data after a kill, and is not filled again', async () => {
			await end(blog, 'SIGKILL')
			blog = await startBlog(place.url, BUNDLED)
			assert.match(await blog.ask(`${blog.api}/articles/235`), '"title":"Sage"')
			assert.match(await blog.ask(`${blog.api}/comments?articleId=235`), '"text":"Nice"')
			assert.is(
				await blog.ask(blog.api),
				'{"success":true,"data":{"authors":24,"articles":235,"comments":251}}',
			)
		})

		test('deletes an article with its comments, and no author who has articles', async () => {
			const { ask, api } = blog
			assert.match(await ask(`-X DELETE @editor ${api}/articles/235`), '"id":235')
			assert.match(await ask(`-i ${api}/articles/235`), /^HTTP\/1.1 404 /)
			assert.match(await ask(`${api}/comments?articleId=235`), '"data":[]')
			assert.match(await ask(`-i -X DELETE @editor ${api}/authors/1`), /^HTTP\/1.1 405 /)
		})

		test('closes on SIGTERM', async () => {
			assert.is(await end(blog, 'SIGTERM'), 0)
			assert.match(blog.running.output(), /\nThe blog is closed\n$/)
		})
	})
}

describe('examples/blog: configuration', (test) => {
	const place = sqlitePlace()

	test.after(() => place.drop())

	test('says what to do when its port is in use', async () => {
		const { running, port } = await startBlog(place.url, BUNDLED)
		try {
			const { code, output } = await run({
				args: BUNDLED,
				env: { PORT: String(port), DATABASE_URL: place.url },
			})
			// Node's own driver is announced as experimental before.
			assert.ok(output.endsWith(`Port ${port} is taken. Choose another one: PORT=3001 npm start\n`), output)
			assert.is(code, 1)
		} finally {
			running.child.kill('SIGKILL')
			await running.ended
		}
	})

	const URL = 'DATABASE_URL'
	const refusals: [string, Record<string, string>, string][] = [
		['a port that is none', { PORT: 'http' }, 'PORT must be a number from 0 to 65535, got "http"'],
		[
			'another database',
			{ [URL]: 'oracle://a:secret@127.0.0.1/blog' },
			'DATABASE_URL must begin with sqlite:, postgres: or mysql:, got oracle:',
		],
		['no URL', { [URL]: 'secret' }, 'DATABASE_URL is no URL: write postgres://user:password@host:5432/name'],
		[
			'PostgreSQL that is not there',
			{ [URL]: 'postgres://a:secret@127.0.0.1:9/blog' },
			'No database answers at DATABASE_URL: is it running?',
		],
		[
			'MariaDB that is not there',
			{ [URL]: 'mysql://a:secret@127.0.0.1:9/blog' },
			'No database answers at DATABASE_URL: is it running?',
		],
	]
	for (const [what, env, output] of refusals) {
		test(`${what} is refused with a message, without the password`, async () => {
			assert.equal(await run({ args: BUNDLED, env }), { code: 1, output: `${output}\n` })
		})
	}

	test('without a URL it uses a file next to it, which git ignores', async () => {
		const file = `${ROOT}/examples/blog/blog.db`
		const wasThere = existsSync(file)
		const { running } = await startBlog('', BUNDLED)
		try {
			assert.match(running.output(), `\nIt is kept in SQLite, ${file}\n`)
			const { code, output } = await run({ program: 'git', args: ['check-ignore', 'examples/blog/blog.db'] })
			assert.ok(code === 0 || /not a git repository/.test(output), output)
		} finally {
			running.child.kill('SIGTERM')
			await running.ended
			const endings = wasThere ? [] : ['', '-wal', '-shm']
			for (const ending of endings) rmSync(`${file}${ending}`, { force: true })
		}
	})
})
