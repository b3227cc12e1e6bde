/** Problems that only the database finds are reported with the position of their record: index in a list, line of an import. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { openStore, type Store, storesHere, type TableKind } from '../over/stores.ts'

const KIND: TableKind = {
	sqlite: 'create table TABLE (id integer primary key, name text unique, grams int check (grams > 0))',
	postgres:
		'create table TABLE (id serial primary key, name text unique, grams int check (grams > 0), host inet)',
	mariadb:
		'create table TABLE (id int auto_increment primary key, name varchar(20) unique, grams int check (grams > 0), host inet6)',
	inMemory: (name) => new MemoryModel(name, { key: 'id', fields: { id: 'integer' } }),
}

const WRONG: readonly (readonly [field: string, value: unknown, status: number, code: string])[] = [
	['name', 'a', 409, 'unique'],
	['grams', -1, 422, 'check'],
	['host', 'nonsense', 422, 'invalid'],
]

for (const name of (await storesHere()).filter((one) => one !== 'memory')) {
	describe(`crud/many/check-list over ${name}`, (test) => {
		let store: Store
		test.before(async () => {
			store = await openStore(name, 'places', 5, KIND)
		})
		test.after(() => store.close())

		for (const [field, value, status, code] of WRONG) {
			// SQLite has no such type, and doesn't say which columns a check is about.
			if (name === 'sqlite' && code === 'invalid') continue
			const place = name === 'sqlite' && code === 'check' ? '' : `.${field}`
			test(`${code}: which record it is`, async () => {
				const options: CrudOptions = {
					visible: 'all',
					updatable: store.model.fields.map((one) => one.name).filter((one) => one !== 'id'),
					allow: ['list', 'create', 'createMany', 'import'],
				}
				const { ask } = asking({ herb: new CrudHandler(await store.emptied(), options) })
				const records = [{ name: 'a' }, { name: 'b' }, { [field]: value }, { name: 'd' }]
				const told = async (request: string, body: unknown, headers = {}) => {
					const reply = await ask(request, { body, headers })
					const { error, details = [] } = reply.json() as { error: string; details?: { field: string }[] }
					assert.match(error, `${details[0]?.field}`)
					return [reply.status, ...details.map((one) => one.field)]
				}
				assert.equal(await told('POST /herb', records), [status, `2${place}`])
				const lines = Buffer.from(records.map((one) => JSON.stringify(one)).join('\n'))
				const type = { 'content-type': 'application/x-ndjson' }
				assert.equal(await told('POST /herb/import', lines, type), [status, `3${place}`])
				const checked = await ask('POST /herb/import?mode=check', { body: lines, headers: type })
				const { problems } = (checked.json() as { data: { problems: { field: string }[] } }).data
				assert.equal(
					problems.map((one) => one.field),
					[`3${place}`],
				)
			})
		}
	})
}
