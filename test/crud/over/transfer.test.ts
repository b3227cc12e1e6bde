/** Exports and imports over every store: importing the export of a table recreates its records. */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, createServer } from '../../../lib/index.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { seedOf } from '../../helpers/seed.ts'
import { trials } from '../../helpers/trials.ts'
import { good } from './any-value.ts'
import { openStore, type Store, storesHere } from './stores.ts'

const FIELDS = [
	'title',
	'note',
	'rank',
	'ratio',
	'price',
	'done',
	'day',
	'at',
	'extra',
	'stock',
	'clock',
] as const
const OPTIONS: CrudOptions = {
	visible: [...FIELDS, 'token', 'data', 'status'],
	updatable: [...FIELDS, 'token', 'data', 'status'],
	allow: ['list', 'createMany', 'export', 'import'],
}

/** Texts that CSV must quote, that spreadsheets would compute, and any other ones. */
const awkward = fc.oneof(
	fc.constantFrom(
		'',
		"'",
		"'=1",
		'=1+1',
		'-5',
		'+49',
		'@a',
		'\t',
		'\r',
		'\n',
		'"',
		'""',
		',',
		';',
		' a ',
		'\r\n,"',
	),
	fc
		.array(fc.constantFrom('"', ',', '\r', '\n', "'", '=', '-', ' ', 'a', '\ufeff', '＝', 'ü', '😀'), {
			maxLength: 8,
		})
		.map((parts) => parts.join('')),
	fc
		.array(
			CODE_POINT.filter((one) => one !== '\0'),
			{ maxLength: 6 },
		)
		.map((parts) => parts.join('')),
)
const record = fc.record(
	{
		...Object.fromEntries(FIELDS.map((name) => [name, good(name)])),
		...{
			title: awkward,
			note: fc.option(awkward),
			token: good('token'),
			data: good('data'),
			status: good('status'),
		},
	},
	{ requiredKeys: ['title'] },
)

for (const name of await storesHere()) {
	describe(`transfer over ${name}`, (test) => {
		let store: Store
		test.before(async () => {
			store = await openStore(name, 'transfer')
		})
		test.after(() => store.close())

		for (const type of ['application/x-ndjson', 'text/csv'])
			test(`an import makes the records of an export again, as ${type}`, async () => {
				const seed = seedOf(`transfer over ${name}`)
				const property = fc.asyncProperty(
					fc.array(record, { minLength: 1, maxLength: 12 }),
					async (records) => {
						const server = createServer(
							{ things: new CrudHandler(await store.emptied(), OPTIONS) },
							{ logger: new Log(), logRequests: false },
						)
						const ask = async (
							method: string,
							url: string,
							headers: Record<string, string>,
							body?: unknown,
						) => {
							const { status, text } = await server.inject({ method, url, headers, body })
							return `${status} ${text()}`
						}
						const made = await ask('POST', '/things', {}, records)
						assert.match(made, /^201/)
						const given = await ask('GET', '/things', { accept: type })
						await store.emptied()
						const again = createServer(
							{ things: new CrudHandler(await store.emptied(), OPTIONS) },
							{ logger: new Log(), logRequests: false },
						)
						const bytes = Buffer.from(given.slice(4))
						const headers = { 'content-type': type }
						const done = await again.inject({ method: 'POST', url: '/things/import', headers, body: bytes })
						assert.is(done.text(), `{"success":true,"data":{"records":${records.length}}}`)
						const taken = await again.inject({ url: '/things', headers: { accept: type } })
						assert.is(taken.text(), given.slice(4))
					},
				)
				await fc.assert(property, { seed, numRuns: trials(6) })
			})
	})
}
