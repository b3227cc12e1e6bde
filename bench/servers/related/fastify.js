/** Three queries, joined in JavaScript: the articles, their authors, their newest comments. */
import { serve } from './serve.js'

export async function start({ database, url, tables }) {
	const { openQueries } = await import(`./hand-${database}.js`)
	const queries = openQueries({ url, tables })
	return serve({
		list: async (limit, offset) => together(await queries.articles(limit, offset), queries),
		read: async (id) => (await together([await queries.article(id)], queries))[0],
	})
}

async function together(articles, queries) {
	const [authors, comments] = await Promise.all([
		queries.authors([...new Set(articles.map(({ author_id }) => author_id))]),
		queries.comments(articles.map(({ id }) => id)),
	])
	const authorOf = new Map(authors.map((author) => [author.id, author]))
	const commentsOf = new Map(articles.map(({ id }) => [id, []]))
	for (const comment of comments) commentsOf.get(comment.article_id).push(comment)
	for (const article of articles) {
		article.author = authorOf.get(article.author_id)
		article.comments = commentsOf.get(article.id)
	}
	return articles
}
