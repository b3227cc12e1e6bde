/** Sequences of CRUD requests for fast-check: valid and invalid, of every kind. */
import fc from 'fast-check'
import { anyMore, anyPlace } from './any-batch.ts'
import { type Queryable, queriesOf } from './any-query.ts'
import { bad, FIELDS, good, nth, STRANGERS } from './any-value.ts'

export interface Step {
	readonly method: string
	/** Path and query, with `{{n}}` for ids. */
	readonly url: string
	readonly headers: Readonly<Record<string, string>>
	/** Text, with `"{{n}}"` for ids as numbers. */
	readonly body: string | undefined
	/** Whether `meta.next` is followed. */
	readonly follows: boolean
}

/** A resource, and what requests to it are made of. */
export interface Subject extends Queryable {
	/** The path at which the first records are created. */
	readonly home: string
	/** Path and headers of a handler. */
	readonly place: fc.Arbitrary<{ readonly path: string; readonly owner: Readonly<Record<string, string>> }>
	/** Last segments of URLs. */
	readonly id: fc.Arbitrary<string>
	/** Fields of bodies. */
	readonly fields: readonly string[]
	readonly required: readonly string[]
	/** Fields of most changes. */
	readonly changeable: readonly string[]
	/** Fields that can't be written. */
	readonly strangers: readonly string[]
	/** What most of the invalid bodies have besides their invalid value. */
	readonly titles: Readonly<Record<string, unknown>>
	/** A unique field, if lists are created, changed, deleted and upserted by it. */
	readonly on?: string
	/** Further requests, which are as frequent as those with lists. */
	readonly more?: fc.Arbitrary<Step>
}

const brokenBody = fc.constantFrom('', '[]', '1', 'null', '{', '{"title":"a"', '"a"', '{"title":"a"}x')
const tag = fc.constantFrom('"1"', '"2"', '"3"', 'W/"1"', '*', '"1", "2"', 'x', '""', '"01"')
const conditions = fc.oneof(
	{ weight: 5, arbitrary: fc.constant({}) },
	{ weight: 2, arbitrary: tag.map((value) => ({ 'if-match': value })) },
	{ weight: 1, arbitrary: tag.map((value) => ({ 'if-none-match': value })) },
)
const type = fc.oneof(
	{ weight: 12, arbitrary: fc.constant('application/json') },
	{ weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/json; charset=latin1') },
)
/** A body that doesn't make a record refer to itself, which InnoDB then couldn't delete. */
function withoutItself(sent: string, of: string): string {
	return sent.replaceAll(`"parent":"${of}"`, '"parent":null')
}

/** A body of upserts, of which it isn't known which records they change. */
function withoutReferences(sent: string): string {
	return sent.replaceAll(/"parent":"\{\{\d+\}\}"/g, '"parent":null')
}

interface Parts {
	readonly suffix: string
	readonly body?: string
	readonly follows?: boolean
}

/** Sequences that start with a few creates. */
export function sequenceOf(subject: Subject): fc.Arbitrary<readonly Step[]> {
	const { home, place, id, fields, required, changeable, strangers, titles, valueFor, on, more } = subject
	const { query, recordQuery, filter, queryBody } = queriesOf(subject)
	const goodBody = fc
		.record(Object.fromEntries(fields.map((name) => [name, valueFor(name)])), { requiredKeys: [...required] })
		.map((body) => JSON.stringify(body))
	const partBody = fc
		.record(Object.fromEntries(changeable.map((name) => [name, valueFor(name)])), { requiredKeys: [] })
		.map((body) => JSON.stringify(body))
	const oddBody = fc
		.constantFrom(...fields, ...strangers)
		.chain((name) => fc.tuple(fc.constant(name), bad(name), fc.boolean()))
		.map(([name, value, titled]) =>
			JSON.stringify(Object.fromEntries([...(titled ? Object.entries(titles) : []), [name, value]])),
		)
	const body = fc.oneof(
		{ weight: 6, arbitrary: goodBody },
		{ weight: 3, arbitrary: partBody },
		{ weight: 2, arbitrary: oddBody },
		{ weight: 1, arbitrary: brokenBody },
	)

	function step(
		methods: readonly string[],
		parts: fc.Arbitrary<Parts>,
		when: fc.Arbitrary<Readonly<Record<string, string>>> = conditions,
	): fc.Arbitrary<Step> {
		return fc
			.tuple(fc.constantFrom(...methods), place, when, type, parts)
			.map(([method, { path, owner }, condition, contentType, { suffix, body: sent, follows = false }]) => ({
				...{ method, url: path + suffix, follows, body: sent },
				headers: { ...owner, ...condition, ...(sent === undefined ? {} : { 'content-type': contentType }) },
			}))
	}

	/** Requests with lists, and upserts. */
	function lists(unique: string): fc.Arbitrary<Step> {
		const listOf = (one: fc.Arbitrary<string>) =>
			fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => `[${all.join()}]`)
		const mostly = <T>(one: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
			fc.oneof({ weight: 9, arbitrary: one }, { weight: 1, arbitrary: odd })
		const first = mostly(fc.constantFrom('{{0}}', '{{1}}'), id)
		const version = mostly(fc.constant(undefined), fc.integer({ min: 0, max: 3 }))
		const change = fc.tuple(first, partBody, version).map(([of, sent, given]) => {
			const own = JSON.parse(withoutItself(sent, of)) as object
			return JSON.stringify({ ...own, id: of, version: given })
		})
		const value = mostly(fc.constantFrom('a', 'A', 'b', 'c d', 'C d'), fc.constantFrom(null, 7, ''))
		const upserted = fc.tuple(goodBody, value).map(([sent, given]) =>
			// An own JSON object.
			JSON.stringify({ ...(JSON.parse(sent) as object), [unique]: given }),
		)
		const on = mostly(fc.constant(unique), fc.constantFrom('id', 'title', ''))
		const removed = fc.oneof(
			fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => `?id[in]=${ids.join()}`),
			query,
		)
		const some = (one: fc.Arbitrary<string>) =>
			fc.oneof({ weight: 3, arbitrary: listOf(one) }, { weight: 1, arbitrary: one })
		const sent = (text: string) => ({ suffix: '', body: text })
		// The column of a fault in malformed JSON depends on ids before it.
		const odd = fc.oneof(partBody, oddBody)
		const rarely = mostly(fc.constant({}), conditions)
		return fc.oneof(
			step(['POST'], listOf(mostly(goodBody, odd)).map(sent), rarely),
			step(['PATCH'], some(mostly(change, odd)).map(sent), rarely),
			step(
				['PUT'],
				fc
					.tuple(on, some(mostly(upserted, odd)))
					.map(([name, text]) => ({ suffix: `?on=${name}`, body: withoutReferences(text) })),
				rarely,
			),
			step(
				['DELETE'],
				removed.map((suffix) => ({ suffix })),
				rarely,
			),
		)
	}

	const inUrl = (ids: fc.Arbitrary<string>) =>
		fc.tuple(ids, recordQuery).map(([of, asked]) => ({ suffix: `/${of}${asked}` }))
	const anyStep = fc.oneof(
		...(on === undefined ? [] : [{ weight: 12, arbitrary: lists(on) }]),
		...(more === undefined ? [] : [{ weight: 12, arbitrary: more }]),
		{
			weight: 6,
			arbitrary: step(
				['GET', 'GET', 'GET', 'HEAD'],
				fc.tuple(query, fc.boolean()).map(([suffix, follows]) => ({ suffix, follows })),
			),
		},
		{
			weight: 2,
			arbitrary: step(
				['QUERY'],
				fc
					.oneof(
						filter.map((given) => JSON.stringify({ filter: given })),
						queryBody,
					)
					.map((sent) => ({ suffix: '', body: sent })),
			),
		},
		{ weight: 3, arbitrary: step(['GET', 'GET', 'HEAD', 'DELETE'], inUrl(id)) },
		{
			weight: 5,
			arbitrary: step(
				['POST'],
				body.map((sent) => ({ suffix: '', body: sent })),
			),
		},
		{
			weight: 6,
			arbitrary: step(
				['PATCH', 'POST', 'PUT', 'PUT'],
				fc
					.tuple(id, recordQuery, fc.oneof(partBody, body))
					.map(([of, asked, sent]) => ({ suffix: `/${of}${asked}`, body: withoutItself(sent, of) })),
			),
		},
		{
			weight: 1,
			arbitrary: step(
				['OPTIONS', 'PUT', 'DELETE', 'TRACE'],
				fc.constantFrom('', '/{{1}}', '/{{1}}/2').map((suffix) => ({ suffix })),
			),
		},
	)
	/** Initial records, so that queries find something. */
	const creates = fc.array(
		goodBody.map(
			(sent): Step => ({
				...{ method: 'POST', url: home, follows: false, body: sent },
				headers: { 'content-type': 'application/json' },
			}),
		),
		{ minLength: 2, maxLength: 6 },
	)

	return fc
		.tuple(creates, fc.array(anyStep, { minLength: 3, maxLength: 12 }))
		.map(([first, rest]) => [...first, ...rest])
}

const thingPlace = fc.oneof(
	{ weight: 4, arbitrary: fc.constant({ path: '/things', owner: {} }) },
	{
		weight: 1,
		arbitrary: fc
			.constantFrom('alice', 'bob')
			.map((owner) => ({ path: '/mine', owner: { 'x-owner': owner } })),
	},
)
const thingId = fc.oneof(
	{ weight: 12, arbitrary: nth },
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			'0',
			'-1',
			'01',
			'x',
			'1.0',
			'9223372036854775808',
			'900000001',
			'%27',
			'1/2',
			'',
		),
	},
)

const THINGS: Subject = {
	on: 'code',
	...{ home: '/things', place: thingPlace, id: thingId },
	...{
		fields: FIELDS,
		required: ['title'],
		changeable: FIELDS,
		strangers: STRANGERS,
		titles: { title: 'a' },
	},
	readable: [...FIELDS.filter((name) => name !== 'secret'), 'id', 'version'],
	unreadable: ['pin', 'owner', 'secret'],
	texts: /title|note|status|code/,
	valueFor: (name) =>
		name === 'id' ? nth : name === 'version' ? fc.integer({ min: 0, max: 4 }) : good(name),
}

/** For `things.ts`. */
export const sequence = sequenceOf(THINGS)

/** For `all-things.ts`. */
export const wholeSequence = sequenceOf({ ...THINGS, place: anyPlace, more: anyMore })
