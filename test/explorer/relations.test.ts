/** What pages know of related records: fields that lead to them, lists below a record, and only what the caller may use. */
import * as assert from 'uvu/assert'
import { shownRecords } from '../../lib/crud/relations/shown.ts'
import type { RelationData } from '../../lib/explorer/page-data.ts'
import { CrudHandler, createServer, MemoryModel, type MemoryModelOptions } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { LIBRARIAN, library } from './library.ts'
import { dataIn, open } from './page-of.ts'

const RUTH = { Authorization: `Bearer ${LIBRARIAN}` }

describe('explorer: relations of a page', (test) => {
	const server = library()

	async function at(url: string, headers: Readonly<Record<string, string>> = {}) {
		const { relations, ...page } = dataIn(await open(server, url, headers))
		const named = (name: string): RelationData | undefined => relations.find((one) => one.name === name)
		return { ...page, relations, named, names: relations.map(({ name }) => name) }
	}

	test('a foreign key leads to the record of the nearest mount, by its name', async () => {
		for (const url of ['/v2/articles', '/v2/articles/1', '/v2/articles/99']) {
			const { named } = await at(url)
			assert.equal(named('author'), {
				...{
					name: 'author',
					isMany: false,
					by: [['authorId', 'id']],
					path: '/v2/authors/{id}',
					label: 'name',
				},
				choice: { url: '/v2/authors', parameter: 'search' },
			})
		}
	})

	test('a foreign key of two fields names both, in the order of the path', async () => {
		const { named } = await at('/v2/articles/1')
		assert.equal(named('shelf'), {
			...{ name: 'shelf', isMany: false, path: '/shelves/{room},{place}', label: 'title' },
			by: [
				['room', 'room'],
				['place', 'place'],
			],
			choice: { url: '/shelves', parameter: 'title[icontains]' },
		})
	})

	test('a list below a record has what its table needs', async () => {
		const { named } = await at('/v2/articles/1')
		const { path, list } = named('comments') ?? {}
		assert.is(path, '/v2/comments/{id}')
		assert.equal(
			[list?.url, list?.limit, list?.back, list?.key],
			['/v2/articles/1/comments', 5, ['articleId'], ['id']],
		)
		assert.equal(
			list?.relations.map(({ name, by }) => [name, by]),
			[['author', [['authorId', 'id']]]],
		)
		assert.is(named('tags')?.list?.limit, 10)
	})

	test('there are no lists below a list, nor below a missing record', async () => {
		for (const url of ['/v2/articles', '/v2/articles/99', '/v2/articles/1/comments'])
			assert.not.ok((await at(url)).relations.some(({ list }) => list !== undefined))
	})

	test('below a record, rows lead to their own pages', async () => {
		const { recordPath, names } = await at('/v2/articles/1/comments')
		assert.is(recordPath, '/v2/comments/{id}')
		assert.equal(names, ['author', 'article'])
		assert.is((await at('/v2/articles/1/author')).recordPath, undefined)
		assert.equal((await at('/v2/articles/1/author')).names, ['profile', 'written'])
	})

	test('who may not use the other records sees no relation to them, nor its route', async () => {
		const { names, relations } = await at('/v2/articles/1')
		assert.equal(names, ['author', 'shelf', 'comments', 'tags'])
		assert.not.match(JSON.stringify(relations), 'notes')
		const all = ['author', 'editor', 'shelf', 'comments', 'notes', 'tags']
		assert.equal((await at('/v2/articles/1', RUTH)).names, all)
		const routes = async (headers = {}) =>
			JSON.stringify((await at('/v2', headers)).map?.handlers).includes('/v2/articles/{id}/notes')
		assert.equal([await routes(), await routes(RUTH)], [false, true])
		const reply = await open(server, '/v2/articles/1/notes')
		assert.is(reply.status, 401)
		assert.equal(
			dataIn(reply).operations.filter(({ isAllowed }) => isAllowed),
			[],
		)
	})

	test('what may be created and tied depends on the caller', async () => {
		const may = async (headers = {}) => {
			const { named } = await at('/v2/articles/1', headers)
			return [named('comments')?.list?.create !== undefined, named('tags')?.list?.tie]
		}
		assert.equal(await may(), [false, undefined])
		assert.equal(await may(RUTH), [true, { choice: { url: '/tags', parameter: 'search' } }])
		const { create } = (await at('/v2/articles/1', RUTH)).named('comments')?.list ?? {}
		assert.is(create?.url, '/v2/articles/1/comments')
		const { text, articleId } = create?.body?.properties ?? {}
		assert.equal([text?.readOnly, articleId?.readOnly], [undefined, true])
	})

	test('the page has no record besides the answer', async () => {
		const text = (await open(server, '/v2/articles/1', RUTH)).text()
		assert.not.match(text, 'MARKER')
		assert.not.match(text, 'Ada')
	})

	test('other handlers, the map and errors have none', async () => {
		for (const url of ['/', '/v2', '/nowhere']) assert.equal((await at(url)).relations, [])
	})
})

describe('explorer: names of records', (test) => {
	const labels: [what: string, MemoryModelOptions['fields'], string | undefined][] = [
		['name, before other texts', { body: 'text', name: 'text' }, 'name'],
		['title', { body: 'text', title: 'text' }, 'title'],
		['name before title', { title: 'text', name: 'text' }, 'name'],
		['what ends in name', { body: 'text', displayName: 'text' }, 'displayName'],
		[
			'else the first text that is no choice',
			{ state: { type: 'text', choices: ['a'] }, body: 'text', more: 'text' },
			'body',
		],
		['none without a text', { rank: 'integer' }, undefined],
	]
	for (const [what, fields, label] of labels)
		test(what, () => {
			const model = new MemoryModel('thing', { key: 'id', fields: { id: 'integer', ...fields } })
			assert.is(shownRecords(new CrudHandler(model, { visible: 'all' }))?.label, label)
		})

	test('a hidden name is not used', () => {
		const model = new MemoryModel('thing', {
			key: 'id',
			fields: { id: 'integer', name: 'text', note: 'text' },
		})
		assert.is(shownRecords(new CrudHandler(model, { visible: ['id', 'note'] }))?.label, 'note')
	})

	const finders: [what: string, object, string | undefined][] = [
		['the search, if it looks at the name alone', { searchable: ['name'] }, 'search'],
		['the name, if it looks at more', { searchable: ['name', 'note'] }, 'name[icontains]'],
		['the name, if it does not', { searchable: ['note'] }, 'name[icontains]'],
		['the search, if the name cannot be filtered', { searchable: ['note'], filterable: ['id'] }, 'search'],
		['nothing', { filterable: ['id'] }, undefined],
	]
	for (const [what, options, finder] of finders)
		test(`records are found by ${what}`, () => {
			const model = new MemoryModel('thing', {
				key: 'id',
				fields: { id: 'integer', name: 'text', note: 'text' },
			})
			assert.is(shownRecords(new CrudHandler(model, { visible: 'all', ...options }))?.finder, finder)
		})
})

describe('explorer: foreign keys that clients do not see', (test) => {
	const author = new MemoryModel('author', {
		key: 'id',
		fields: { id: 'integer', name: 'text' },
		rows: [{ name: 'Ada' }],
	})
	const profile = new MemoryModel('profile', {
		key: 'id',
		fields: { id: 'integer', authorId: 'integer', about: 'text' },
		references: [{ field: 'authorId', model: author }],
		rows: [{ authorId: 1, about: 'Engines' }],
	})

	const table: [what: string, authorVisible: string[], profileVisible: string[], by: string[][]][] = [
		['a visible key leads there', ['id', 'name'], ['id', 'authorId'], [['authorId', 'id']]],
		['a hidden key does not', ['id', 'name'], ['id', 'about'], []],
		['nor does one to a hidden key', ['name'], ['id', 'authorId'], []],
	]
	for (const [what, authorVisible, profileVisible, by] of table)
		test(what, async () => {
			const authors: CrudHandler = new CrudHandler(author, {
				visible: authorVisible,
				relations: { profile: { to: () => profiles, many: false } },
			})
			const profiles = new CrudHandler(profile, {
				visible: profileVisible,
				relations: { author: { to: authors } },
			})
			const server = createServer({ authors, profiles }, { explorer: true, logger: new Log() })
			const relation = async (url: string) => dataIn(await open(server, url)).relations[0]
			assert.equal((await relation('/profiles'))?.by, by)
			// The key is in the other record.
			assert.equal((await relation('/authors'))?.by, [])
		})

	test('a handler that is not mounted has names, and no links', async () => {
		const profiles = new CrudHandler(profile, {
			visible: 'all',
			relations: { author: { to: new CrudHandler(author, { visible: 'all' }) } },
		})
		const server = createServer({ profiles }, { explorer: true, logger: new Log() })
		const [relation] = dataIn(await open(server, '/profiles')).relations
		assert.equal(relation, { name: 'author', isMany: false, by: [['authorId', 'id']], label: 'name' })
	})

	test("credentials aren't shown to the other handler's authenticator", async () => {
		let calls = 0
		class Guarded extends CrudHandler {
			override access = { '*': 'user' }
			override authenticator = {
				authenticate: () => {
					calls++
					return { id: 'x' }
				},
			}
		}
		const profiles = new CrudHandler(profile, {
			visible: 'all',
			relations: { author: { to: new Guarded(author, { visible: 'all' }) } },
		})
		const server = createServer({ profiles }, { explorer: true, logger: new Log() })
		assert.equal(dataIn(await open(server, '/profiles', RUTH)).relations, [])
		assert.is(calls, 0)
	})
})
