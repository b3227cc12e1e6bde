/**
 * Records that are out of a request's scope are added, changed and removed, and so are hidden fields: no byte of any
 * answer changes, whatever the request includes, filters, sorts or counts.
 */
import { ok, strictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { describe } from '../../helpers/describe.ts'
import { anyReads, type Step } from '../over/relations/any-request.ts'
import { serve } from '../over/relations/handlers.ts'
import { openStore, type Row, type Rows, type Store } from '../over/relations/stores.ts'
import type { Ask } from '../over/things.ts'

/** The scope of all requests: people of team red, articles that are done, tags with these words, and shown comments. */
const HEADERS = { 'x-team': 'red', 'x-done': '1', 'x-words': 'Ada,Bob,%' }
/** In all texts that no answer may have. */
const MARKER = 'MARKER'

const VISIBLE = [1, 2, 3, 4]
/** Out of scope, and always there, because records within the scope refer to them. */
const REFERRED = [11, 12]
/** Out of scope, and there in some variants. */
const CHANGING = [21, 22, 23]
const HIDDEN = [...REFERRED, ...CHANGING]

const word = fc.constantFrom('Ada', 'ada', 'Bob', '', 'ö x', '%')
const small = fc.integer({ min: 1, max: 6 })
const price = fc.constantFrom('1.50', '2.00', '9.99')
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 4 })
const secret = fc.constantFrom(MARKER, `${MARKER} 2`, `A${MARKER}`)
const maybe = (row: fc.Arbitrary<Row>) => fc.option(row)

type Members = Readonly<Record<string, fc.Arbitrary<Row[string]>>>

function rowsOf(ids: readonly number[], make: (id: number) => Members, areAll = true): fc.Arbitrary<Row[]> {
	const rows = ids.map((id) => fc.record({ id: fc.constant(id), ...make(id) }))
	return areAll
		? fc.tuple(...rows)
		: fc.tuple(...rows.map(maybe)).map((some) => some.filter((row) => row !== null))
}

/** What is the same in all variants. */
const visible: fc.Arbitrary<Rows> = fc.record({
	person: rowsOf(VISIBLE, () => ({
		name: orNull(word),
		team: fc.constant('red'),
		secret: fc.constant(null),
	})),
	article: rowsOf(VISIBLE, (id) => ({
		title: word,
		author_id: fc.constantFrom(...VISIBLE, ...REFERRED),
		editor_id: orNull(fc.constantFrom(...VISIBLE, ...REFERRED)),
		parent_id: orNull(fc.constantFrom(id, ...REFERRED)),
		...{ score: orNull(small), price: orNull(price), day: fc.constant(null), done: fc.constant(true) },
	})),
	comment: pairs(VISIBLE, VISIBLE, 8, ([article_id, n]) => ({
		...{ article_id: fc.constant(article_id), n: fc.constant(n) },
		author_id: orNull(fc.constantFrom(...VISIBLE, ...REFERRED)),
		...{ text: orNull(word), score: orNull(small), hidden: fc.constant(false) },
	})),
	tag: rowsOf(VISIBLE, () => ({ word: fc.constantFrom('Ada', 'Bob', '%'), price: orNull(price) })),
	tie: pairs(VISIBLE, VISIBLE, 6, ([article_id, tag_id]) => ({
		...{ article_id: fc.constant(article_id), tag_id: fc.constant(tag_id), note: fc.constant(null) },
	})),
})

/** Records with a key of two numbers. */
function pairs(
	first: readonly number[],
	second: readonly number[],
	maxLength: number,
	make: (key: readonly [number, number]) => Members,
): fc.Arbitrary<Row[]> {
	return fc
		.uniqueArray(fc.tuple(fc.constantFrom(...first), fc.constantFrom(...second)), {
			maxLength,
			selector: (key) => key.join(),
		})
		.chain((keys) => fc.tuple(...keys.map((key) => fc.record(make(key)))))
}

/** What differs between variants: records out of scope, and what is hidden of the others. */
interface Variant {
	readonly secrets: readonly string[]
	readonly rows: Rows
}

const person = () => ({ name: orNull(secret), team: fc.constantFrom('blue', 'green'), secret })
/** References only to records that are there in each variant. */
const article = () => ({
	...{ title: secret, author_id: fc.constantFrom(...VISIBLE, ...REFERRED) },
	...{ editor_id: orNull(fc.constantFrom(...VISIBLE, ...REFERRED)) },
	parent_id: orNull(fc.constantFrom(...VISIBLE, ...REFERRED)),
	...{ score: orNull(small), price: orNull(price), day: fc.constant(null) },
	done: fc.constantFrom(false, null),
})
const tag = () => ({ word: orNull(secret), price: orNull(price) })

const variant: fc.Arbitrary<Variant> = fc
	.record({
		secrets: fc.tuple(...VISIBLE.map(() => secret)),
		...{ people: rowsOf(REFERRED, person), morePeople: rowsOf(CHANGING, person, false) },
		...{ articles: rowsOf(REFERRED, article), moreArticles: rowsOf(CHANGING, article, false) },
		tags: rowsOf(HIDDEN, tag, false),
		// With numbers between those of shown comments, and behind them.
		comments: pairs([...VISIBLE, ...REFERRED], [0, 5, 6, 7], 8, ([article_id, n]) => ({
			...{ article_id: fc.constant(article_id), n: fc.constant(n), hidden: fc.constant(true) },
			...{
				author_id: orNull(fc.constantFrom(...VISIBLE, ...REFERRED)),
				text: orNull(secret),
				score: orNull(small),
			},
		})),
		ties: pairs([...VISIBLE, ...HIDDEN], [...VISIBLE, ...HIDDEN], 10, ([article_id, tag_id]) => ({
			...{ article_id: fc.constant(article_id), tag_id: fc.constant(tag_id), note: secret },
		})),
	})
	.map(({ secrets, people, morePeople, articles, moreArticles, tags, comments, ties }) => {
		const ids = (rows: readonly Row[]) => new Set([...VISIBLE, ...rows.map(({ id }) => Number(id))])
		const [there, tagged] = [ids([...articles, ...moreArticles]), ids(tags)]
		const isHidden = (id: unknown) => HIDDEN.includes(Number(id))
		const tie = ties.filter(
			({ article_id, tag_id }) =>
				(isHidden(article_id) || isHidden(tag_id)) &&
				there.has(Number(article_id)) &&
				tagged.has(Number(tag_id)),
		)
		const rows = {
			...{ person: [...people, ...morePeople], article: [...articles, ...moreArticles] },
			...{ comment: comments, tag: tags, tie },
		}
		return { secrets, rows }
	})

/** All records: those of a variant before the others, or behind them. */
function combined(base: Rows, { secrets, rows }: Variant, isBefore: boolean): Rows {
	const both = (table: keyof Rows) =>
		isBefore ? [...rows[table], ...base[table]] : [...base[table], ...rows[table]]
	const people = base.person.map((row, at) => ({ ...row, secret: secrets[at] ?? null }))
	return {
		person: isBefore ? [...rows.person, ...people] : [...people, ...rows.person],
		...{ article: both('article'), comment: both('comment'), tag: both('tag'), tie: both('tie') },
	}
}

/** Requests within the scope, also for records out of it. Ties themselves have no scope. */
const reads = anyReads.map((steps) =>
	steps
		.filter(({ path }) => !path.startsWith('/ties'))
		.map((step) => ({ ...step, path: step.path.replace(/\/9\b/, '/21').replace(/\/4\b/, '/11') })),
)

export function differential(numRuns: number): void {
	for (const name of ['memory', 'sqlite'] as const) differentialOf(name, numRuns)
}

/** SQLite embeds related records; with memory, they are asked for. */
function differentialOf(name: 'memory' | 'sqlite', numRuns: number): void {
	describe(`records out of scope change no answer: ${name}`, (test) => {
		let store: Store | undefined
		test.before(async () => {
			store = await openStore(name, 'diff')
		})
		test.after(() => store?.close())

		test(`${numRuns} sequences of requests`, async () => {
			await fc.assert(
				fc.asyncProperty(visible, variant, variant, reads, async (base, one, other, steps) => {
					const first = await answers(store, combined(base, one, true), steps)
					for (const text of first) ok(!text.includes(MARKER), text)
					const second = await answers(store, combined(base, other, false), steps)
					for (const [at, text] of first.entries()) strictEqual(second[at], text)
					strictEqual(second.length, first.length)
				}),
				{ numRuns, includeErrorInReport: true },
			)
		})
	})
}

/** The answers as texts: status, headers and body. */
async function answers(store: Store | undefined, rows: Rows, steps: readonly Step[]): Promise<string[]> {
	if (store === undefined) return []
	const { ask } = serve(await store.filled(rows))
	const texts: string[] = []
	for (const step of steps) texts.push(...(await answersTo(ask, step)))
	return texts
}

async function answersTo(ask: Ask, { method, path, query, body, follows }: Step): Promise<string[]> {
	const sent =
		body === undefined
			? { headers: HEADERS }
			: { headers: { ...HEADERS, 'content-type': 'application/json' }, body: JSON.stringify(body) }
	const texts: string[] = []
	for (let url: string | undefined = path + query; url !== undefined && texts.length < 4; ) {
		const { status, headers, text } = await ask({ method, url, ...sent })
		ok(status < 500, `${status}: ${url} ${text()}`)
		const { 'x-request-id': _, date: _date, ...others } = headers
		const own = text().replace(/"requestId":"[^"]*"/, '"requestId":"…"')
		texts.push(`${method} ${decodeURIComponent(url)} ${status} ${JSON.stringify(others)} ${own}`)
		url = follows ? /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1] : undefined
	}
	return texts
}
