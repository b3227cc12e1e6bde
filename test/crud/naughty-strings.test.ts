/** Naughty strings as id, value, filter and search: each is handled exactly, or refused with 4xx. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { asking } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'
import { dataOf } from './articles.ts'

const OWN = [
	'a\0b',
	'\ud800',
	'x\udc00y',
	'%',
	'_',
	'\\',
	'%_\\%',
	'__proto__',
	'[null]',
	'a,b',
	' a ',
	'\u{10ffff}',
]
const LIST = JSON.parse(readFileSync(`${ROOT}/test/acceptance/naughty-strings.json`, 'utf8')) as string[]
const STRINGS = [...new Set([...LIST, ...OWN])]

/** Characters that no text column can store, and ids that no URL can carry. */
const UNSTORABLE = /[\0\p{Surrogate}]/u
const NO_ID = /^\.{0,2}$|[\x00-\x1f\x7f\p{Surrogate}]/u

describe('crud: naughty strings', (test) => {
	const fields = { id: 'integer', text: 'text', data: { type: 'json', nullable: true } } as const
	const model = new MemoryModel('t', { key: 'id', fields })
	const asked = asking({
		t: new CrudHandler(model, {
			...{ visible: 'all', updatable: ['text', 'data'], searchable: ['text'] },
			allow: ['list', 'read', 'create', 'update'],
		}),
	})

	test('as values, in text and JSON columns', async () => {
		for (const text of STRINGS) {
			const data = { [text]: [text] }
			const reply = await asked.ask('POST /t', { body: { text, data } })
			if (text === '__proto__') assert.is(reply.status, 400)
			else if (UNSTORABLE.test(text)) assert.is(reply.status, 422)
			else
				assert.equal((reply.json() as { data: { text: string } }).data, {
					id: idOf(reply.text()),
					text,
					data,
				})
		}
	})

	test('as filters, in full and in part, and as searches', async () => {
		const storable = STRINGS.filter((one) => !UNSTORABLE.test(one) && one !== '__proto__')
		for (const text of storable.filter((_, at) => at % 4 === 0)) {
			const sent = encodeURIComponent(text)
			const found = (await dataOf(asked, `/t?text=${sent}&fields=text&limit=100`)) as { text: string }[]
			assert.equal(found, [{ text }])
			const filter = encodeURIComponent(JSON.stringify({ text: { contains: text } }))
			const counted = await asked.ask(`/t?limit=0&filter=${filter}`)
			const holders = storable.filter((one) => one.includes(text))
			assert.is(counted.headers['x-total-count'], String(holders.length), JSON.stringify(text))
			assert.ok([200, 400].includes((await asked.ask(`/t?search=${sent}`)).status))
			for (const setting of [
				'limit',
				'offset',
				'cursor',
				'sort',
				'fields',
				'count',
				'filter',
				sent,
				`text[${sent}]`,
			])
				assert.ok([200, 400].includes((await asked.ask(`/t?${setting}=${sent}`)).status))
		}
	})

	test('as ids', async () => {
		const named = asking({
			n: new CrudHandler(new MemoryModel('n', { key: 'name', fields: { name: 'text' } }), {
				...{ visible: 'all', allow: ['read', 'create', 'remove'] },
			}),
		})
		for (const name of STRINGS) {
			const made = await named.ask('POST /n', { body: { name } })
			if (NO_ID.test(name)) {
				assert.is(made.status, 422, JSON.stringify(name))
				continue
			}
			assert.is(made.status, 201, JSON.stringify(name))
			const url = String(made.headers.location)
			assert.equal(await dataOf(named, url), { name })
			assert.equal(await dataOf(named, `DELETE ${url}`), { name })
		}
	})
})

function idOf(text: string): number {
	return Number(/"id":(\d+)/.exec(text)?.[1])
}
