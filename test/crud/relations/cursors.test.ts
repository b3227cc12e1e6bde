/** Pages of a list that is sorted by a field of a related record. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

describe('crud/relations: cursors', (test) => {
	for (const sort of ['author.nickname', '-author.nickname'])
		test(`sorted by ${sort}, each page comes after the one before, records without a related one last`, async () => {
			const author = new MemoryModel('author', {
				key: 'id',
				fields: { id: 'integer', nickname: 'text' },
				rows: [{ nickname: 'b' }, { nickname: 'a' }],
			})
			const article = new MemoryModel('article', {
				key: 'id',
				fields: { id: 'integer', author_id: { type: 'integer', nullable: true } },
				references: [{ field: 'author_id', model: author }],
				rows: [1, null, 2, 1, null, 2].map((author_id) => ({ author_id })),
			})
			const authors = new CrudHandler(author, { visible: 'all' })
			const articles = new CrudHandler(article, { visible: 'all', relations: { author: { to: authors } } })
			const { ask } = asking({ author: authors, article: articles })
			const ids: number[] = []
			let cursor: string | null = ''
			while (cursor !== null) {
				const more = cursor === '' ? '' : `&cursor=${cursor}`
				const { status, text } = await ask(`/article?limit=1&sort=${sort}${more}`)
				assert.is(status, 200, text())
				const page = JSON.parse(text()) as { data: { id: number }[]; meta: { next: string | null } }
				ids.push(...page.data.map(({ id }) => id))
				cursor = page.meta.next
			}
			assert.equal(ids, sort.startsWith('-') ? [4, 1, 6, 3, 5, 2] : [3, 6, 1, 4, 2, 5])
		})
})
