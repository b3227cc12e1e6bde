/** Drizzle's relational queries, prepared as its documentation recommends. */
import { relations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable, text, timestamp, varchar } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { serve } from './serve.js'

export async function start({ url, tables }) {
	const db = drizzle(new pg.Pool({ connectionString: url }), { schema: schemaOf(tables) })
	const newest = (row, { desc }) => [desc(row.created), desc(row.id)]
	const related = { author: true, comments: { limit: 5, orderBy: newest } }
	const list = db.query.article
		.findMany({
			with: related,
			orderBy: newest,
			limit: sql.placeholder('limit'),
			offset: sql.placeholder('offset'),
		})
		.prepare('list')
	const read = db.query.article
		.findFirst({ with: related, where: (row, { eq }) => eq(row.id, sql.placeholder('id')) })
		.prepare('read')
	return serve({
		list: (limit, offset) => list.execute({ limit, offset }),
		read: (id) => read.execute({ id }),
	})
}

function schemaOf(tables) {
	const time = () => timestamp({ withTimezone: true, precision: 3 }).notNull()
	const author = pgTable(tables.author, {
		id: integer().primaryKey(),
		name: varchar({ length: 80 }).notNull(),
		city: varchar({ length: 80 }),
		joined: time(),
	})
	const article = pgTable(tables.article, {
		id: integer().primaryKey(),
		author_id: integer().notNull(),
		title: varchar({ length: 200 }).notNull(),
		summary: text().notNull(),
		status: varchar({ length: 20 }).notNull(),
		views: integer().notNull(),
		created: time(),
	})
	const comment = pgTable(tables.comment, {
		id: integer().primaryKey(),
		article_id: integer().notNull(),
		writer: varchar({ length: 80 }).notNull(),
		body: text().notNull(),
		likes: integer().notNull(),
		created: time(),
	})
	return {
		...{ author, article, comment },
		ofArticle: relations(article, ({ one, many }) => ({
			author: one(author, { fields: [article.author_id], references: [author.id] }),
			comments: many(comment),
		})),
		ofComment: relations(comment, ({ one }) => ({
			article: one(article, { fields: [comment.article_id], references: [article.id] }),
		})),
	}
}
