/** The types that `verbena types` writes, for each type of field, and for names that aren't identifiers. */
import * as assert from 'uvu/assert'
import { quoted, recordTypes } from '../../lib/cli/record-types.ts'
import { MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'

describe('types of records', (test) => {
	test('are those of the JSON', () => {
		const model = new MemoryModel('all', {
			fields: {
				...{ id: 'integer', yes: 'boolean', big: 'bigint', ratio: 'float', price: 'decimal', title: 'text' },
				...{ token: 'uuid', day: 'date', clock: 'time', at: 'timestamp', extra: 'json', data: 'bytes' },
				...{ rest: 'other', digits: { type: 'bigint', asText: true } },
				...{ note: { type: 'text', nullable: true }, some: { type: 'json', nullable: true } },
				state: { type: 'text', choices: ['open', "it's"], nullable: true },
				...{ 'first name': 'text', größe: 'integer', "o'clock": 'time', '2nd': 'text' },
			},
			key: 'id',
		})
		assert.is(
			recordTypes([{ name: 'all', model, related: [] }], 'a test */'),
			`/** Records of a test * /, as the API shows them. Written by \`verbena types\`. */
export interface Db {
	all: {
		id: number
		yes: boolean
		big: number
		ratio: number
		price: string
		title: string
		token: string
		day: string
		clock: string
		at: string
		extra: unknown
		data: string
		rest: string
		digits: string
		note: string | null
		some: unknown
		state: 'open' | 'it\\'s' | null
		'first name': string
		größe: number
		'o\\'clock': string
		'2nd': string
	}
}
`,
		)
	})

	test('hold for no table and odd names of tables', () => {
		assert.match(recordTypes([], 'x'), /export interface Db \{\n\}\n$/)
		const model = new MemoryModel('a', { fields: {}, key: [] })
		assert.match(recordTypes([{ name: 'a b', model, related: [] }], 'x'), /\n\t'a b': \{\n\t\}\n/)
	})

	test('have relations, those to many as a client has them', () => {
		const model = new MemoryModel('a', { fields: {}, key: [] })
		const related = [
			{ name: 'author', table: 'authors', isMany: false },
			{ name: 'seen-by', table: 'a b', isMany: true },
		]
		const text = recordTypes([{ name: 'a b', model, related }], 'x')
		assert.match(text, /^import type \{ Many, One \} from 'verbena\/client\/crud'\n/)
		assert.ok(
			text.endsWith(`
export interface Related {
	'a b': {
		author: One<Db['authors']>
		'seen-by': Many<Db['a b'], Related['a b']>
	}
}
`),
		)
	})

	test('have texts that are read as they are', async () => {
		for (const text of ['', "'", '"', '\\', "\\'", '\n\r\t\u2028\0', 'é😀', '`']) {
			const source = encodeURIComponent(`export default ${quoted(text)}`)
			const module = (await import(`data:text/javascript,${source}`)) as { readonly default: unknown }
			assert.is(module.default, text)
		}
	})
})
