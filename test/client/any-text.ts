/** Naughty strings sent with the client. Run short by the `.test.ts`, long by the `.long.ts`. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { ApiError, CrudClient } from '../../lib/client/index.ts'
import { CrudHandler, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'

/** `test/acceptance/naughty-strings.json` */
export const STRINGS = JSON.parse(
	readFileSync(`${ROOT}/test/acceptance/naughty-strings.json`, 'utf8'),
) as readonly string[]

interface Article {
	readonly id: number
	readonly title: string
}

class Articles extends CrudHandler {
	constructor() {
		const fields = { id: 'integer', title: 'text' } as const
		super(new MemoryModel('article', { fields, key: 'id' }), {
			...{ visible: 'all', updatable: ['title'], allow: ['list', 'create'], maxLimit: 1_000 },
			rules: { title: ['required', { max: 5_000 }] },
		})
	}
}

/** A suite with these texts. */
export function anyText(texts: readonly string[]): void {
	describe('client and CrudHandler: texts', (test) => {
		test(`${texts.length} texts come back unchanged, and are found by equality`, () =>
			listening({ article: new Articles() }, {}, async ({ url }) => {
				const articles = new CrudClient<Article>('article', url)
				for (const title of texts) await comesBack(articles, title)
			}))
	})
}

async function comesBack(articles: CrudClient<Article>, title: string): Promise<void> {
	const what = JSON.stringify(title)
	const created = await articles.create({ title }).catch((error: unknown) => error)
	if (/[\0\p{Surrogate}]/u.test(title)) {
		assert.ok(created instanceof ApiError && created.status === 422, what)
		return
	}
	if (created instanceof Error) throw created
	const { id, title: kept } = created as Article // what a create answers that didn't fail
	assert.is(kept, title)
	for (const where of [{ title }, { title: [title, 'no'] }, { title: { nin: ['no', title] }, id }]) {
		const { data } = await articles.list({ where, limit: 1_000 })
		assert.is(
			data.some((one) => one.id === id),
			!('id' in where),
			JSON.stringify(where),
		)
	}
}
