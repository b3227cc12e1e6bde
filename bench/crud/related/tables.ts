/**
 * The tables of the workloads with related records: authors, their articles, and 20 comments per article, with 200,000 more
 * for one of them. They are only read, and generated inside the database.
 */
import type { DatabaseName } from '../databases.ts'
import { FIRST_ID } from '../tables.ts'

export const AUTHORS = 1_000
export const ARTICLES = 10_000
/** Comments of each article. */
export const COMMENTS = 20
/** The number, from the oldest, of the article with 200,000 more comments. */
export const LARGE_ARTICLE = 5_000
export const LARGE = 200_000
/** The number of comment writers; each has commented on about one article in a hundred. */
export const WRITERS = 1_999

/** Names of the tables, in the order in which they are created. */
export const BLOG = {
	author: 'bench_blog_author',
	article: 'bench_blog_article',
	comment: 'bench_blog_comment',
} as const

/** The statements that create and fill the tables, in order. */
export function blogStatements(database: DatabaseName): string[] {
	const drops = Object.values(BLOG).map((table) => `drop table if exists ${table}`)
	const make = { postgres: forPostgres, mariadb: forMariadb, sqlite: forSqlite }[database]
	return [...drops.reverse(), ...make(), ...indexes(database)]
}

const FEW = ARTICLES * COMMENTS
/** Articles that get comments during the same period, so that their comments are mixed in the table. */
const AT_ONCE = 500

/** SQL for the number of a comment's article, by the comment's number `i`, from 1. */
function articleOf(divided: (by: number) => string): string {
	const usual = `1 + (i - 1) % ${AT_ONCE} + ${AT_ONCE} * ${divided(AT_ONCE * COMMENTS)}`
	return `case when i <= ${FEW} then ${usual} else ${LARGE_ARTICLE} end`
}

/** Indexes begin with the column of the foreign key; otherwise MariaDB would add its own. */
function indexes(database: DatabaseName): string[] {
	const index = (table: string, name: string, columns: string) =>
		`create index ${table}_${name} on ${table} (${columns})`
	const analyze = { postgres: 'vacuum analyze', mariadb: 'analyze table', sqlite: 'analyze' }[database]
	return [
		index(BLOG.author, 'name', 'name, id'),
		index(BLOG.article, 'created', 'created desc, id desc'),
		index(BLOG.article, 'author', 'author_id, created desc, id desc'),
		index(BLOG.comment, 'article', 'article_id, created desc, id desc'),
		index(BLOG.comment, 'writer', 'writer, article_id'),
		...Object.values(BLOG).map((table) => `${analyze} ${table}`),
	]
}

/** Column types whose names differ between the databases. */
interface Types {
	readonly key: string
	readonly time: string
	/** Follows each `create table (…)`. */
	readonly end: string
}

function created({ key, time, end }: Types): string[] {
	return [
		`create table ${BLOG.author} (
			id ${key},
			name varchar(80) not null,
			city varchar(80),
			joined ${time} not null)${end}`,
		`create table ${BLOG.article} (
			id ${key},
			author_id integer not null,
			title varchar(200) not null,
			summary text not null,
			status varchar(20) not null,
			views integer not null,
			created ${time} not null,
			foreign key (author_id) references ${BLOG.author} (id))${end}`,
		`create table ${BLOG.comment} (
			id ${key},
			article_id integer not null,
			writer varchar(80) not null,
			body text not null,
			likes integer not null,
			created ${time} not null,
			foreign key (article_id) references ${BLOG.article} (id))${end}`,
	]
}

function forPostgres(): string[] {
	const time = (seconds: number) => `timestamptz '2020-01-01 00:00:00Z' + i * interval '${seconds} seconds'`
	return [
		...created({ key: 'integer primary key', time: 'timestamptz(3)', end: '' }),
		`insert into ${BLOG.author} select ${FIRST_ID - 1} + i, 'Author ' || substr(md5(i::text), 1, 12),
				case when i % 5 = 0 then null else 'City of ' || substr(md5(i || 'c'), 1, 8) end, ${time(3_601.117)}
			from generate_series(1, ${AUTHORS}) i`,
		`insert into ${BLOG.article} select ${FIRST_ID - 1} + i, ${FIRST_ID} + i * 7 % ${AUTHORS},
				'Article ' || i || ' on ' || substr(md5(i::text), 1, 20),
				md5(i || 'a') || ', "' || md5(i || 'b') || E'"\\n' || md5(i || 'c') || '.',
				case when i % 3 = 0 then 'draft' else 'published' end, i * 13 % 100000, ${time(6_123.7)}
			from generate_series(1, ${ARTICLES}) i`,
		`insert into ${BLOG.comment} select ${FIRST_ID - 1} + i, ${FIRST_ID - 1} + ${articleOf((by) => `((i - 1) / ${by})`)},
				'Writer ' || (i * 31 % ${WRITERS}), md5(i || 'a') || ': "' || md5(i || 'b') || '"', i * 17 % 1000, ${time(306.123)}
			from generate_series(1, ${FEW + LARGE}) i`,
	]
}

function forMariadb(): string[] {
	const numbers = (count: number) =>
		`with recursive k (i) as (select 0 union all select i + 1 from k where i < 999),
			n (i) as (select h.i * 1000 + l.i + 1 from k h cross join k l where h.i * 1000 + l.i < ${count})`
	const time = (milliseconds: number) =>
		`timestamp '2020-01-01 00:00:00' + interval i * ${milliseconds}000 microsecond`
	const key = 'integer not null primary key'
	return [
		...created({ key, time: 'datetime(3)', end: ' charset utf8mb4' }),
		`insert into ${BLOG.author} ${numbers(AUTHORS)}
			select ${FIRST_ID - 1} + i, concat('Author ', substr(md5(i), 1, 12)),
				if(i % 5 = 0, null, concat('City of ', substr(md5(concat(i, 'c')), 1, 8))), ${time(3_601_117)} from n`,
		`insert into ${BLOG.article} ${numbers(ARTICLES)}
			select ${FIRST_ID - 1} + i, ${FIRST_ID} + i * 7 % ${AUTHORS}, concat('Article ', i, ' on ', substr(md5(i), 1, 20)),
				concat(md5(concat(i, 'a')), ', "', md5(concat(i, 'b')), '"', char(10), md5(concat(i, 'c')), '.'),
				if(i % 3 = 0, 'draft', 'published'), i * 13 % 100000, ${time(6_123_700)} from n`,
		`insert into ${BLOG.comment} ${numbers(FEW + LARGE)}
			select ${FIRST_ID - 1} + i, ${FIRST_ID - 1} + ${articleOf((by) => `((i - 1) div ${by})`)}, concat('Writer ', i * 31 % ${WRITERS}),
				concat(md5(concat(i, 'a')), ': "', md5(concat(i, 'b')), '"'), i * 17 % 1000, ${time(306_123)} from n order by 1`,
	]
}

function forSqlite(): string[] {
	const numbers = (count: number) =>
		`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})`
	const digits = (factor: number) => `printf('%08x', i * ${factor} % 4294967296)`
	const time = (seconds: number) => `strftime('%Y-%m-%dT%H:%M:%fZ', 1577836800 + i * ${seconds}, 'unixepoch')`
	const words = `${digits(2654435761)} || ${digits(2246822519)} || ${digits(3266489917)} || ${digits(668265263)}`
	return [
		...created({ key: 'integer primary key', time: 'datetime', end: '' }),
		`insert into ${BLOG.author} ${numbers(AUTHORS)}
			select ${FIRST_ID - 1} + i, 'Author ' || ${digits(2654435761)} || 'abcd',
				case when i % 5 = 0 then null else 'City of ' || ${digits(374761393)} end, ${time(3_601.117)} from n`,
		`insert into ${BLOG.article} ${numbers(ARTICLES)}
			select ${FIRST_ID - 1} + i, ${FIRST_ID} + i * 7 % ${AUTHORS}, 'Article ' || i || ' on ' || ${digits(2654435761)} || ${digits(374761393)},
				${words} || ', "' || ${words} || '"' || char(10) || ${words} || '.',
				case when i % 3 = 0 then 'draft' else 'published' end, i * 13 % 100000, ${time(6_123.7)} from n`,
		`insert into ${BLOG.comment} ${numbers(FEW + LARGE)}
			select ${FIRST_ID - 1} + i, ${FIRST_ID - 1} + ${articleOf((by) => `((i - 1) / ${by})`)}, 'Writer ' || (i * 31 % ${WRITERS}),
				${words} || ': "' || ${words} || '"', i * 17 % 1000, ${time(306.123)} from n`,
	]
}
