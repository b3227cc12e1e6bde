/** SQLite: foreign keys whose column has another collation than the column that they refer to. */
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../../../lib/index.ts'
import { SqliteModel } from '../../../../lib/models/sqlite/model.ts'
import { asking } from '../../../helpers/asking.ts'
import { describe } from '../../../helpers/describe.ts'
import { opened, sqliteDrivers, type TestDatabase } from '../../../helpers/sqlite.ts'

const FOLDS = {
	binary: (text: string) => text,
	nocase: (text: string) => text.toLowerCase(),
	rtrim: (text: string) => text.replace(/ +$/, ''),
} as const
type Collation = keyof typeof FOLDS
const COLLATIONS = Object.keys(FOLDS) as readonly Collation[]

const TEXTS = ['ann', 'ANN', 'ann ', 'bob', 'Bob  ']

/** A post, and the person that it refers to. */
type Post = readonly [id: number, owner: string]

interface Filled {
	readonly people: readonly string[]
	readonly posts: readonly Post[]
	readonly profiles: readonly Post[]
	readonly ties: readonly Post[]
}

/** Inserts what the database accepts. `key` is the collation of what `by` refers to. */
function fill(database: TestDatabase, key: Collation, by: Collation): Filled {
	database.exec(`pragma foreign_keys = on;
		create table person (name text collate ${key} not null primary key);
		create table post (id integer primary key, author text collate ${by} references person);
		create table profile (id integer primary key, name text collate ${by} not null unique references person);
		create table tie (person text collate ${by} references person, post int references post, primary key (person, post))`)
	const takes = (statement: string) => {
		try {
			database.exec(statement)
			return true
		} catch {
			return false
		}
	}
	const same = FOLDS[key]
	const people = TEXTS.filter((text) => takes(`insert into person values ('${text}')`))
	const owner = (text: string) => people.find((name) => same(name) === same(text)) ?? ''
	const posts = TEXTS.flatMap((text, at): Post[] =>
		takes(`insert into post values (${at + 1}, '${text}')`) ? [[at + 1, owner(text)]] : [],
	)
	const profiles: Post[] = []
	// The last text of each person, and only one, so that the relation is to one.
	for (const [at, text] of [...TEXTS.entries()].reverse()) {
		const isFirst = !profiles.some(([, name]) => name === owner(text))
		if (isFirst && takes(`insert into profile values (${at + 1}, '${text}')`))
			profiles.push([at + 1, owner(text)])
	}
	const ties = [1, 2].flatMap((post) =>
		TEXTS.flatMap((text): Post[] =>
			takes(`insert into tie values ('${text}', ${post})`) ? [[post, owner(text)]] : [],
		),
	)
	return { people, posts, profiles, ties }
}

class Read extends CrudHandler {
	override read(id: string) {
		return super.read(id)
	}
	override list(query: Parameters<CrudHandler['list']>[0]) {
		return super.list(query)
	}
}

class Stripped extends CrudHandler {
	override stripObject(record: Record<string, unknown>) {
		return record
	}
}

async function handlersOf(database: TestDatabase) {
	const [person, post, profile, tie] = await Promise.all(
		['person', 'post', 'profile', 'tie'].map((table) => SqliteModel.open(database, table)),
	)
	if (!person || !post || !profile || !tie) throw new Error('there are four tables')
	const ofPerson = { visible: ['name'], filterable: ['name'], sortable: ['name'] } as const
	const ofPost = { visible: ['id'], filterable: ['id'], sortable: ['id'] } as const
	const others = [
		{ kind: '', people: new CrudHandler(person, ofPerson), posts: new CrudHandler(post, ofPost) },
		{ kind: 'Stripped', people: new Stripped(person, ofPerson), posts: new Stripped(post, ofPost) },
		{ kind: 'Read', people: new Read(person, ofPerson), posts: new Read(post, ofPost) },
	]
	const of = (kinds: (one: (typeof others)[number]) => Record<string, object>) =>
		Object.fromEntries(
			others.flatMap((one) => Object.entries(kinds(one)).map(([name, to]) => [`${name}${one.kind}`, to])),
		)
	const people: CrudHandler = new CrudHandler(person, {
		...ofPerson,
		relations: {
			...of(({ posts }) => ({ posts: { to: posts }, liked: { to: posts, through: tie } })),
			own: { to: () => posts },
			untied: { to: () => posts, through: tie, writable: ['tie'] },
			profile: { to: () => profiles, many: false },
			profileStripped: { to: new Stripped(profile, ofPost), many: false },
		},
	})
	const posts: CrudHandler = new CrudHandler(post, {
		...ofPost,
		relations: {
			...of(({ people }) => ({ person: { to: people }, fans: { to: people, through: tie } })),
			own: { to: people },
		},
	})
	const profiles = new CrudHandler(profile, { ...ofPost, relations: { own: { to: people } } })
	return { people, posts, profiles }
}

type Related = { readonly data: readonly { readonly id?: number; readonly name?: string }[] }
type Row = Related['data'][number] & Readonly<Record<string, Related & Related['data'][number]>>

async function check(database: TestDatabase, key: Collation, by: Collation): Promise<void> {
	const { people, posts, profiles, ties } = fill(database, key, by)
	const { ask } = asking(await handlersOf(database))
	const dataOf = async (url: string) => {
		const { status, text } = await ask(url)
		assert.is(status, 200, `${url}: ${text()}`)
		return (JSON.parse(text()) as { data: readonly Row[] }).data
	}
	const seen = (records: readonly Related['data'][number][]) =>
		records.map(({ id, name }) => id ?? name).sort()
	const same = FOLDS[key]
	const postsOf = (name: string) => posts.filter(([, owner]) => owner === name).map(([id]) => id)
	const likedOf = (name: string) =>
		[...new Set(ties.filter(([, owner]) => owner === name).map(([id]) => id))].sort()
	const fansOf = (id: number) => people.filter((name) => likedOf(name).includes(id)).sort()

	for (const kind of ['', 'Stripped', 'Read']) {
		for (const row of await dataOf(`/posts?include=person${kind},fans${kind}`)) {
			const id = Number(row.id)
			const owner = posts.find(([one]) => one === id)?.[1]
			assert.is(row[`person${kind}`]?.name, owner, `person${kind} of ${id}`)
			assert.equal(seen(row[`fans${kind}`]?.data ?? []), fansOf(id), `fans${kind} of ${id}`)
			const below = await ask(`/posts/${id}/person${kind}`)
			assert.is((below.json() as { data: { name: string } }).data.name, owner, `/posts/${id}/person`)
			assert.equal(seen(await dataOf(`/posts/${id}/fans${kind}`)), fansOf(id))
		}
		for (const row of await dataOf(`/people?include=posts${kind},liked${kind}`)) {
			const name = String(row.name)
			const url = `/people/${encodeURIComponent(name)}`
			assert.equal(seen(row[`posts${kind}`]?.data ?? []), postsOf(name), `posts${kind} of ${name}`)
			assert.equal(seen(row[`liked${kind}`]?.data ?? []), likedOf(name), `liked${kind} of ${name}`)
			assert.equal(seen(await dataOf(`${url}/posts${kind}`)), postsOf(name), `${url}/posts${kind}`)
			assert.equal(seen(await dataOf(`${url}/liked${kind}`)), likedOf(name), `${url}/liked${kind}`)
		}
	}
	for (const row of await dataOf('/people?include=profile,profileStripped')) {
		const id = profiles.find(([, owner]) => owner === row.name)?.[0]
		assert.is(row.profile?.id, id, `profile of ${row.name}`)
		assert.is(row.profileStripped?.id, id, `profileStripped of ${row.name}`)
		const url = `/people/${encodeURIComponent(String(row.name))}`
		const alone = (await ask(`${url}?include=profileStripped`)).json() as { data: Row }
		assert.is(alone.data.profileStripped?.id, id, `profile of ${row.name} alone`)
		const { status } = await ask(`${url}/profile`)
		assert.is(status, id === undefined ? 404 : 200, `${url}/profile`)
	}
	const sorted = await dataOf('/people?sort=profile.id,name')
	assert.equal(seen(sorted), [...people].sort(), 'sorted by a profile, each person is there once')

	const found = async (path: string, filter: object, expected: readonly (string | number)[]) => {
		const url = `/${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`
		assert.equal(seen(await dataOf(url)), [...expected].sort(), `${path} ${JSON.stringify(filter)}`)
	}
	const peopleWhere = (fits: (name: string) => boolean) => people.filter(fits)
	const postsWhere = (fits: (id: number, owner: string) => boolean) =>
		posts.filter(([id, owner]) => fits(id, owner)).map(([id]) => id)
	for (const [id, owner] of posts) {
		await found('people', { own: { some: { id } } }, [owner])
		await found(
			'people',
			{ own: { none: { id } } },
			peopleWhere((name) => name !== owner),
		)
		await found('people', { untied: { some: { id } } }, fansOf(id))
		await found(
			'posts',
			{ own: { own: { some: { id } } } },
			postsWhere((_, other) => other === owner),
		)
		await found(
			'posts',
			{ own: { untied: { some: { id } } } },
			postsWhere((_, other) => likedOf(other).includes(id)),
		)
	}
	for (const gte of [1, 2, 3]) {
		const count = { count: { gte } }
		await found(
			'people',
			{ own: count },
			peopleWhere((name) => postsOf(name).length >= gte),
		)
		await found(
			'people',
			{ untied: count },
			peopleWhere((name) => likedOf(name).length >= gte),
		)
		await found(
			'posts',
			{ fans: count },
			postsWhere((id) => fansOf(id).length >= gte),
		)
		await found(
			'posts',
			{ own: { own: count } },
			postsWhere((_, owner) => postsOf(owner).length >= gte),
		)
		await found(
			'posts',
			{ own: { untied: count } },
			postsWhere((_, owner) => likedOf(owner).length >= gte),
		)
	}
	for (const [id, owner] of profiles) {
		await found('people', { profile: { id } }, [owner])
		await found('profiles', { own: { profile: { id } } }, [id])
	}
	for (const name of people)
		await found(
			'posts',
			{ own: { name } },
			postsWhere((_, owner) => same(owner) === same(name)),
		)

	for (const name of people)
		for (const id of likedOf(name)) {
			const url = `/people/${encodeURIComponent(name)}/untied`
			const liked = () =>
				Promise.all(
					peopleWhere((one) => one !== name).map((one) =>
						dataOf(`/people/${encodeURIComponent(one)}/untied`),
					),
				)
			const others = await liked()
			assert.is((await ask(`DELETE ${url}/${id}`)).status, 204, `${url}/${id}`)
			assert.not(seen(await dataOf(url)).includes(id), `${url}/${id}`)
			assert.equal(await liked(), others)
		}
}

describe('SQLite: foreign keys with another collation than what they refer to', (test) => {
	const driver = sqliteDrivers.find(({ open }) => open !== undefined)
	for (const key of COLLATIONS)
		for (const by of COLLATIONS)
			test(`${by} refers to ${key}`, async () => {
				const database = opened(driver?.open)
				try {
					await check(database, key, by)
				} finally {
					database.close()
				}
			})
})
