/**
 * Lists the files of `lib/` whose functions run for one request, by V8's precise coverage: a GET of a record and a
 * validated POST, both over SQLite, and a signed GET. Prints their number and names:
 *
 *     node --import tsx test/passed-files.ts
 */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Session } from 'node:inspector/promises'
import Database from 'better-sqlite3'
import { signRequest } from '../lib/client/index.ts'
import { CrudHandler, createServer, HmacAuthenticator, RestHandler } from '../lib/index.ts'
import { SqliteModel } from '../lib/models/sqlite/model.ts'

interface Sent {
	readonly method: string
	readonly path: string
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: string
}

const KEY = { id: 'k', secret: Buffer.alloc(32, 7) }

class Signed extends RestHandler {
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { [KEY.id]: KEY.secret } })
	override access = { '*': 'user' }

	async get_note(id: string): Promise<{ id: string }> {
		return { id }
	}
}

const database = new Database(':memory:')
database.exec(
	"create table note (id integer primary key, title text not null); insert into note values (1, 'a')",
)
const notes = new CrudHandler(await SqliteModel.open(database, 'note'), {
	visible: ['id', 'title'],
	updatable: ['title'],
	allow: ['list', 'read', 'create'],
	rules: { title: ['required', 'string', { max: 200 }] },
})
const server = createServer({ notes, signed: new Signed() })
const { url } = await server.listen()

/** The files that ran for the third of three requests, when everything that is created lazily exists. */
async function passed(make: () => Promise<Sent>): Promise<string[]> {
	const session = new Session()
	session.connect()
	await session.post('Profiler.enable')
	await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
	for (let warm = 0; warm < 2; warm++) await answered(await make())
	const sent = await make()
	await session.post('Profiler.takePreciseCoverage')
	const status = await answered(sent)
	const { result } = await session.post('Profiler.takePreciseCoverage')
	session.disconnect()
	if (status >= 300) throw new Error(`${sent.method} ${sent.path} was answered ${status}`)
	return result
		.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
		.map(({ url: file }) => /\/lib\/(.*\.ts)$/.exec(file)?.[1] ?? '')
		.filter((file) => file !== '')
		.sort()
}

async function answered({ method, path, headers, body }: Sent): Promise<number> {
	const sending = request(`${url}${path}`, { method, headers: { ...headers } })
	sending.end(body)
	const [response] = (await once(sending, 'response')) as [IncomingMessage]
	response.resume()
	await once(response, 'end')
	return response.statusCode ?? 0
}

const signing = async (): Promise<Sent> => {
	const { headers } = await signRequest(new Request(`${url}/signed/note/1`), KEY)
	return { method: 'GET', path: '/signed/note/1', headers: Object.fromEntries(headers) }
}
const body = JSON.stringify({ title: 'thyme' })
const posting = { method: 'POST', path: '/notes', headers: { 'content-type': 'application/json' }, body }
const runs: readonly [string, () => Promise<Sent>][] = [
	['a GET of a record', async () => ({ method: 'GET', path: '/notes/1' })],
	['a validated POST', async () => posting],
	['a signed GET', signing],
]
for (const [what, make] of runs) {
	const files = await passed(make)
	console.log(`${what}: ${files.length} files`)
	for (const file of files) console.log(`  ${file}`)
}
await server.close()
