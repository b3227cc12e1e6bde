/** Fills the blog's tables if they are empty. */
import { type Model, RawJson, type Values } from '../../lib/index.ts' // 'verbena'
import type { Selection } from '../../lib/models/index.ts' // 'verbena/model'
import { seed } from './seed/seed.ts'

/** The blog's tables. */
export interface Tables {
	readonly authors: Model
	readonly articles: Model
	readonly comments: Model
}

const ID: Selection = { fields: ['id'], names: ['id'], version: undefined }

/** Each table is filled in a transaction, so that an interrupted start is completed by the next. */
export async function fill({ authors, articles, comments }: Tables): Promise<void> {
	const records = seed()
	await fillOne(
		authors,
		records.authors.map(({ number: _, ...author }) => author),
	)
	const authorIds = await idsOf(authors)
	await fillOne(
		articles,
		records.articles.map(({ number: _, author, tags, ...article }) => {
			return { ...article, author_id: idAt(authorIds, author), tags: new RawJson(JSON.stringify(tags)) }
		}),
	)
	const articleIds = await idsOf(articles)
	await fillOne(
		comments,
		records.comments.map(({ article, ...comment }) => ({
			...comment,
			article_id: idAt(articleIds, article),
		})),
	)
}

async function fillOne(model: Model, records: readonly Values[]): Promise<void> {
	if ((await model.count(undefined)) > 0) return
	await model.transaction(async (within) => {
		for (const record of records) await within.create(record, ID)
	})
}

/** The ids, in the order in which the records were created. */
async function idsOf(model: Model): Promise<number[]> {
	const { json } = await model.list({
		...{ selection: ID, where: undefined, order: [{ field: 'id', descending: false }] },
		...{ limit: 1_000, offset: 0, after: undefined, total: false },
	})
	return (JSON.parse(json) as { id: number }[]).map(({ id }) => id) // as ID says
}

/** The id of the record with a number, from 1; of another record if that has been deleted. */
function idAt(ids: readonly number[], number: number): number {
	return ids[(number - 1) % ids.length] ?? 0
}
