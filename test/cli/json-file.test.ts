/** Records of a JSON file: their types, keys and references. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openJson } from '../../lib/cli/json-file.ts'
import { keyNames } from '../../lib/models/key.ts'
import { describe } from '../helpers/describe.ts'

describe('a JSON file', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-json-'))
	const file = join(folder, 'db.json')
	const open = (content: unknown) => {
		writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
		return openJson(file, 'db.json').open(() => {})
	}
	const typesOf = async (rows: readonly object[]) => {
		const { t } = await open({ t: rows })
		return Object.fromEntries(
			(t?.fields ?? []).map(({ name, type, nullable }) => [name, nullable ? `${type}?` : type]),
		)
	}
	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('gives fields the types of their values', async () => {
		assert.equal(
			await typesOf([
				{ id: 1, b: true, i: 1, f: 1, t: 'a', o: {}, mixed: 1, big: 2 ** 60, none: null },
				{ id: 2, b: false, i: -2, f: 1.5, t: null, o: [], mixed: 'a', big: 1, none: null },
			]),
			{
				...{ id: 'integer', b: 'boolean', i: 'integer', f: 'float', t: 'text?', o: 'json', mixed: 'json' },
				...{ big: 'float', none: 'json?' },
			},
		)
		assert.equal(await typesOf([{ id: 1 }, { id: 2, late: 'x' }]), { id: 'integer', late: 'text?' })
	})

	test('has ids of numbers or texts, if each is another', async () => {
		const keyOf = async (...ids: unknown[]) => {
			const { t } = await open({ t: ids.map((id) => ({ id })) })
			return t === undefined ? undefined : keyNames(t)
		}
		assert.equal(await keyOf(1, 2), ['id'])
		assert.equal(await keyOf('a', 'b'), ['id'])
		for (const ids of [[1, 1], [1, '1'], [1, null], [1.5], [''], [true]])
			assert.equal(await keyOf(...ids), [], JSON.stringify(ids))
	})

	test('has references by names, where all values are ids there', async () => {
		const { posts, post_tags, comments, nothing } = await open({
			comments: [{ id: 1, postId: 1 }, { id: 2 }],
			nothing: [{ id: 1, postId: null }],
			categories: [{ id: 'a' }],
			posts: [{ id: 1, category_id: 'a', authorId: 9 }],
			post_tags: [{ id: 1, postId: 7 }],
		})
		assert.ok(posts && comments && post_tags && nothing)
		assert.equal(nothing.references?.(posts), [])
		assert.equal(comments.references?.(posts), [{ fields: ['postId'], to: ['id'] }])
		assert.equal(post_tags.references?.(posts), [])
	})

	test('may have tables that refer to each other, and names such as constructor', async () => {
		const models = await open({
			constructor: [{ id: 1, valueOf: 1 }, { id: 2 }],
			users: [{ id: 1, teamId: 1 }],
			teams: [{ id: 1, userId: 1 }],
		})
		assert.equal(Object.keys(models), ['constructor', 'users', 'teams'])
		const { users, teams } = models
		assert.ok(users && teams)
		assert.is((users.references?.(teams).length ?? 0) + (teams.references?.(users).length ?? 0), 1)
	})

	test('may begin with a byte order mark', async () => {
		assert.equal(Object.keys(await open('\uFEFF{"a":[{"id":1}]}')), ['a'])
	})

	test('that is missing is reported by its name', async () => {
		const gone = openJson(join(folder, 'gone.json'), 'gone.json')
		const error = await gone.open(() => {}).catch((error) => error)
		assert.match(error.message, /^gone\.json can't be read: ENOENT/)
	})

	const refused: readonly (readonly [content: unknown, message: RegExp])[] = [
		['{"a":', /^db\.json is not JSON: /],
		[[1], /^db\.json must be an object of lists: \{"posts":\[\{"id":1\}\]\}$/],
		[{ a: [{ id: 1 }, 7] }, /^db\.json: a\[1\] must be an object, got 7$/],
		[{ a: [{ id: 1, t: '\0' }] }, /^db\.json: a has a value of t that can't be stored$/],
		[{ a: 'text' }, /^db\.json: a must be a list of objects, or an object, got "text"$/],
	]
	for (const [content, message] of refused)
		test(`is refused: ${JSON.stringify(content)}`, async () => {
			const error = await open(content).catch((error: unknown) => error)
			assert.match(String(error instanceof Error ? error.message : error), message)
		})
})
