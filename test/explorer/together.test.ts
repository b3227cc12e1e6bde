/** What pages offer for deleted records, totals and records that are changed or deleted together, and to whom. */
import * as assert from 'uvu/assert'
import { isList, isRecord, parseJson } from '../../lib/explorer/page/json-value.ts'
import { changesOf, totalsOf, urlOfRows } from '../../lib/explorer/page/list-query.ts'
import type { PageData } from '../../lib/explorer/page-data.ts'
import type { Server } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { KEEPER, market } from './market.ts'
import { dataIn, open } from './page-of.ts'

const RUTH = { Authorization: `Bearer ${KEEPER}` }

async function pageAt(
	server: Server,
	url: string,
	headers: Record<string, string> = RUTH,
): Promise<PageData> {
	return dataIn(await open(server, url, headers))
}

/** The methods that the caller may use, with the paths of those that are elsewhere. */
function methodsOf({ operations }: PageData): string[] {
	return operations
		.filter(({ isAllowed }) => isAllowed)
		.map(({ method, url }) => (url === undefined ? method : `${method} ${url}`))
}

function parametersOf({ operations }: PageData): string[] {
	return operations.find(({ method }) => method === 'GET')?.query.map(({ name }) => name) ?? []
}

describe('explorer: deleted records', (test) => {
	test('who may restore records can ask for deleted ones', async () => {
		const server = market()
		for (const url of ['/sales', '/sales/1']) {
			assert.ok(parametersOf(await pageAt(server, url)).includes('deleted'))
			assert.not.ok(parametersOf(await pageAt(server, url, {})).includes('deleted'))
		}
	})

	test('the page of a deleted record has what restores it, and nothing that would be a 404', async () => {
		const server = market()
		await server.inject({ method: 'DELETE', url: '/sales/2' })
		const found = await pageAt(server, '/sales/2?deleted=only')
		assert.is(found.answer?.status, 200)
		assert.equal(methodsOf(found), ['GET', 'POST /sales/2/restore'])
		assert.is(found.operations.find(({ url }) => url !== undefined)?.restores, true)
		const missing = await pageAt(server, '/sales/2')
		assert.is(missing.answer?.status, 404)
		assert.equal(methodsOf(missing), ['GET'])
		assert.ok(parametersOf(missing).includes('deleted'))
	})

	test('a list of deleted records can’t be deleted again', async () => {
		const server = market()
		assert.ok(methodsOf(await pageAt(server, '/sales')).includes('DELETE'))
		assert.not.ok(methodsOf(await pageAt(server, '/sales?deleted=only')).includes('DELETE'))
	})

	test('others see no way to restore, and their answer is the refusal', async () => {
		const server = market()
		await server.inject({ method: 'DELETE', url: '/sales/2' })
		const page = await pageAt(server, '/sales/2?deleted=only', {})
		assert.is(page.answer?.status, 401)
		assert.not.ok(methodsOf(page).some((one) => one.includes('restore')))
	})
})

describe('explorer: totals', (test) => {
	test('a list leads to its totals, for those who may use them', async () => {
		const server = market()
		assert.is((await pageAt(server, '/sales', {})).totalsPath, '/sales/totals')
		assert.is((await pageAt(server, '/sales/1', {})).totalsPath, undefined)
		assert.is((await pageAt(server, '/stalls')).totalsPath, undefined)
		assert.is((await pageAt(server, '/closed', {})).totalsPath, undefined)
		assert.is((await pageAt(server, '/closed')).totalsPath, '/closed/totals')
	})

	test('totals aren’t a record: nothing is below them', async () => {
		const { operations, relations } = await pageAt(market(), '/shops/totals?by=id')
		assert.is(operations.find(({ method }) => method === 'GET')?.isTotals, true)
		assert.equal(relations, [])
		assert.equal(
			(await pageAt(market(), '/shops/1')).relations.map(({ name }) => name),
			['wares'],
		)
	})

	test('the link to totals keeps the conditions of the list', () => {
		assert.is(
			totalsOf('/sales/totals', '/sales?limit=5&item=sage&sort=-id&cursor=x&amount[gte]=3&search=a'),
			'/sales/totals?count=exact&item=sage&amount%5Bgte%5D=3&search=a',
		)
	})
})

describe('explorer: records changed together', (test) => {
	const change = ({ operations }: PageData) => operations.find(({ method }) => method === 'PATCH')

	test('the form has the key and the version of each record, for who may change them', async () => {
		const server = market()
		assert.equal(change(await pageAt(server, '/sales'))?.matched, ['id', 'version'])
		assert.equal(change(await pageAt(server, '/slots'))?.matched, ['hall', 'number'])
		assert.is(change(await pageAt(server, '/sales', {}))?.isAllowed, false)
		assert.is(change(await pageAt(server, '/sales', {}))?.matched, undefined)
		assert.is(change(await pageAt(server, '/sales/1'))?.matched, undefined)
	})

	test('numbers that JSON.parse() would round are sent as texts', () => {
		const rows = parseJson('[{"id":9007199254740993,"item":"sage","version":3},{"id":2}]')
		const own = isList(rows) ? rows.filter(isRecord) : []
		assert.is(
			changesOf(own, ['id', 'version'], '"note":"$&"'),
			'[{"id":"9007199254740993","version":3,"note":"$&"},{"id":2,"note":"$&"}]',
		)
		assert.is(changesOf(own.slice(1), ['id'], ''), '[{"id":2}]')
	})
})

describe('explorer: records deleted together', (test) => {
	const equality = ['', 'in']
	const filters = new Map([
		['id', equality],
		['row', equality],
		['name', equality],
	])
	const urlOf = (keys: readonly string[], json: string) => {
		const rows = parseJson(json)
		return decodeURIComponent(urlOfRows('/a', keys, isList(rows) ? rows : [], filters))
	}

	test('numbers and texts are listed', () => {
		assert.is(urlOf(['id'], '[{"id":9007199254740993},{"id":2}]'), '/a?id[in]=9007199254740993,2')
		assert.is(urlOf(['name'], '[{"name":"c&d"}]'), '/a?name[in]=c&d')
	})

	test('a text with a comma, and a key of several columns, is in a filter', () => {
		assert.is(urlOf(['name'], '[{"name":"a,b"},{"name":"c"}]'), '/a?filter={"name":{"in":["a,b","c"]}}')
		assert.is(
			urlOf(['row', 'name'], '[{"row":1,"name":"a,b"},{"row":2,"name":"c","x":1}]'),
			'/a?filter={"or":[{"row":1,"name":"a,b"},{"row":2,"name":"c"}]}',
		)
	})

	test('who may not delete records together can’t on the page', async () => {
		const server = market()
		const removal = ({ operations }: PageData) => operations.find(({ method }) => method === 'DELETE')
		assert.is(removal(await pageAt(server, '/sales', {}))?.isAllowed, false)
		assert.is(removal(await pageAt(server, '/sales'))?.isAllowed, true)
	})
})
