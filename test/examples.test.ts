/** Every example is run, and does what its last lines say. */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { curl } from './helpers/curl.ts'
import { describe } from './helpers/describe.ts'
import {
	freePorts,
	ROOT,
	type Running,
	run,
	runAll,
	start,
	typescript,
	untilPrinted,
} from './helpers/program.ts'
import { assertPrints, commandsOf, replay } from './helpers/session.ts'

const examples = readdirSync(`${ROOT}/examples`).filter((name) => name.endsWith('.ts'))

function pathOf(name: string): string {
	return `${ROOT}/examples/${name}`
}

function sourceOf(name: string): string {
	return readFileSync(pathOf(name), 'utf8')
}

/** What stands in the comment that ends an example. */
function endOf(name: string): string {
	return /\/\*\n([\s\S]*)\*\/\n$/.exec(sourceOf(name))?.[1] ?? ''
}

describe('examples', (test) => {
	for (const name of examples) {
		test(`${name} is short, says how to run it and what it prints`, () => {
			const source = sourceOf(name)
			assert.ok(source.split('\n').length <= 41, `${name} has more than 40 lines`)
			const [head = ''] = /^\/\*\*\n[\s\S]*?\*\/\n/.exec(source) ?? []
			assert.match(head, `\n *     npx tsx examples/${name}\n */\n`)
			assert.match(source, /'\.\.\/lib\/index\.ts' \/\/ (you write )?'verbena'\n/)
			assert.ok(endOf(name) !== '', `${name} doesn't end with what it prints`)
		})
	}

	test('each does what it says', async () => {
		const { reports, stop } = await runAll(examples.map(pathOf))
		try {
			for (const name of examples) {
				const { printed, failure, port } = reports.get(pathOf(name)) ?? { failure: 'no report' }
				assert.is(failure, '', name)
				if (commandsOf(endOf(name)).length > 0) await replay(endOf(name), port ?? 0, ROOT)
				else assertPrints(printed ?? '', endOf(name), name)
			}
		} finally {
			await stop()
		}
	})
})

const BLOG = typescript('examples/blog/main.ts')
const CREATED = `
HTTP/1.1 201 Created
…
Location: /blog/api/articles/19
…
{"success":true,"data":{"id":19,"title":"Thyme","body":"Dry.","authorId":2,"tags":[],"published":"…"}}`

describe('examples/blog', (test) => {
	let blog: Running
	let port = 0
	let api = ''

	test.before(async () => {
		port = (await freePorts(1))[0] ?? 0
		api = `http://127.0.0.1:${port}/blog/api`
		blog = start({ args: BLOG, env: { PORT: String(port) } })
		await untilPrinted(blog, 'Try: ')
	})

	test.after(async () => {
		blog.child.kill('SIGKILL')
		await blog.ended
	})

	test('prints its address, its routes and a first curl line', async () => {
		const said = blog.output()
		assert.match(said, `The blog is at http://127.0.0.1:${port}\n`)
		const first = /^Try: (curl .*)$/m.exec(said)?.[1] ?? ''
		assert.match(await curl(first, ROOT), '"meta":{"limit":2,"offset":0,"total":4}')
		const routes = [...said.matchAll(/^ {2}([A-Z]+) +(\/\S+)/gm)]
		assert.is(routes.length, 10)
		for (const [line, method, path = ''] of routes) {
			const url = `http://127.0.0.1:${port}${path.replace('<id>', '3')}`
			const answer = await curl(`curl -i -X ${method} ${url}`, ROOT)
			assert.match(answer, method === 'GET' ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 401 /, line)
		}
	})

	test('lets whoever has the key write, and nobody else', async () => {
		const key = (role: string) => new RegExp(`${role}: (Authorization: Bearer \\w+)`).exec(blog.output())?.[1]
		const ask = (line: string) => curl(`curl ${line}`, ROOT)
		const create = `-H '${key('editor')}' -d title=Thyme -d body=Dry. ${api}/articles`
		assertPrints(await ask(`-i -d authorId=2 ${create}`), CREATED, create)
		assert.match(await ask(`-d authorId=99 ${create}`), '"error":"No such author"')
		assert.match(await ask(create), '"error":"authorId is required"')
		const article = `${api}/articles/19`
		assert.match(await ask(`-X DELETE -H '${key('reader')}' ${article}`), '"error":"Forbidden"')
		assert.match(await ask(`-H '${key('reader')}' -d text=Nice ${article}/comments`), '"name":"sam"')
		assert.match(await ask(`-X PATCH -H '${key('editor')}' -d title=Sage ${article}`), '"title":"Sage"')
		assert.match(await ask(`-X DELETE -H '${key('editor')}' ${article}`), '"id":19')
		assert.match(await ask(article), '"error":"No such article"')
	})

	test('says what to do where its port is taken, or is none', async () => {
		const [taken, wrong] = await Promise.all([
			run({ args: BLOG, env: { PORT: String(port) } }),
			run({ args: BLOG, env: { PORT: 'http' } }),
		])
		assert.is(taken.output, `Port ${port} is taken. Choose another one: PORT=3001 npm start\n`)
		assert.is(taken.code, 1)
		assert.is(wrong.output, 'PORT must be a number from 0 to 65535, got "http"\n')
		assert.is(wrong.code, 1)
	})

	test('closes on SIGTERM', async () => {
		blog.child.kill('SIGTERM')
		assert.is(await blog.ended, 0)
		assert.match(blog.output(), /\nThe blog is closed\n$/)
	})
})
