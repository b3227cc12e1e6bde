/** The model contract: what it skips, and that each broken model fails. */
import * as assert from 'uvu/assert'
import { MemoryModel } from '../../lib/models/memory/memory-model.ts'
import type { Condition, Listed, ListQuery, Model, Value } from '../../lib/models/model.ts'
import { ModelError } from '../../lib/models/model-error.ts'
import { type ModelContractOptions, modelContract } from '../../lib/testing/index.ts'
import { describe } from '../helpers/describe.ts'
import { BROKEN_MANY } from './broken-many.ts'
import {
	AnsweringOld,
	AnsweringOther,
	CountingChanged,
	declared,
	eachValue,
	everywhere,
	Failing,
	InTwoSteps,
	Joining,
	ListingOther,
	Misreading,
	Passing,
	Remembering,
	Replacing,
	Rewriting,
	Storing,
	Timing,
	Undoing,
	Unguarded,
	Unlocked,
	Untransacted,
	withField,
} from './broken-models.ts'
import { BROKEN_RELATIONS, linked } from './broken-relations.ts'
import { BROKEN_TOTALS } from './broken-totals.ts'
import { CONTRACT_KEYS, CONTRACT_OPTIONS, relatedModels } from './memory-for-contract.ts'

type Broken = readonly [what: string, make: () => Model, found: string]

const BROKEN: readonly Broken[] = [
	[
		'says that a field may be null which may not',
		() => withField('title', { nullable: true }),
		'the fields are those of the table, with type, null and default',
	],
	[
		'locks nothing',
		() => new Unlocked(),
		'a record that a transaction has locked is changed by others after its end',
	],
	[
		'takes NOW for a time long ago',
		() => new Timing(),
		'NOW is the current time, in creates and updates, if the model takes it',
	],
	[
		'has no greatest length',
		() => withField('email', { maxLength: undefined }),
		'a text with a maximum length reports it',
	],
	[
		'lets a unique value in twice',
		() => declared({ unique: [] }),
		'a duplicate of a unique value is refused, naming the field or none',
	],
	[
		'lets a reference lead nowhere',
		() => declared({ references: [] }),
		'a reference to a missing record is refused',
	],
	[
		'lets a record go that another refers to',
		() => declared({ references: [] }),
		'a record is not deleted while another refers to it',
	],
	[
		'knows of no bound of a page',
		() => new ListingOther((query) => ({ ...query, maxBytes: undefined })),
		'a page larger than maxBytes is refused: bytes of UTF-8, without the next record',
	],
	[
		'orders backwards',
		() => new ListingOther((query) => turned(query, ({ descending }) => !descending)),
		'the order of the key goes up and down',
	],
	[
		'orders by the first term only',
		() => new ListingOther((query) => ({ ...query, order: query.order.slice(0, 1) })),
		'equal values are ordered by the next term, whichever direction it has',
	],
	[
		'has all terms in the direction of the first',
		() => new ListingOther((query) => turned(query, () => query.order[0]?.descending === true)),
		'equal values are ordered by the next term, whichever direction it has',
	],
	[
		'compares a cursor as if all terms had the direction of the first',
		() =>
			new ListingOther((query) =>
				query.after === undefined ? query : turned(query, () => query.order[0]?.descending === true),
			),
		'pages by several terms of mixed directions, with nulls, visit every record once',
	],
	[
		'puts nulls first when it descends',
		() => new AnsweringOther((listed, query) => (query.order[0]?.descending ? nullsFirst(listed) : listed)),
		'order orders up and down, nulls last both ways',
	],
	[
		'skips one record too many',
		() => new ListingOther((query) => ({ ...query, offset: query.offset === 0 ? 0 : query.offset + 1 })),
		'limit and offset select a range of the order',
	],
	[
		'has nothing behind a cursor',
		() =>
			new AnsweringOther((listed, query) => (query.after === undefined ? listed : { ...listed, json: '[]' })),
		'pages by the key alone visit every record once, up and down',
	],
	[
		'says that more follows when a page is full',
		() =>
			new AnsweringOther((listed, { limit }) =>
				sizeOf(listed) === limit ? { ...listed, next: '[1]' } : listed,
			),
		'next is present exactly when more records follow',
	],
	[
		'knows cursors to the millisecond only',
		() =>
			new AnsweringOther((listed) => ({ ...listed, next: listed.next?.replace(/(\.\d{3})\d{3}Z/, '$1Z') })),
		'pages by timestamps that differ in microseconds only miss nothing',
	],
	[
		'counts the page for the total',
		() => new AnsweringOther((listed, { total }) => (total ? { ...listed, total: sizeOf(listed) } : listed)),
		'the total counts all matching records, whatever the page',
	],
	[
		'cuts a long list short, and closes it',
		() => new Rewriting((json) => (json.length > 1_048_576 ? `${json.slice(0, 1_048_576)}]` : json)),
		'100 records of 20 kB each are one complete list',
	],
	[
		'sorts the keys of its JSON',
		() => new Rewriting((json) => sortKeys(json)),
		'a record has only the selected fields, in their order and under the given names',
	],
	[
		'reads its JSON and writes it again',
		() => new Rewriting((json) => JSON.stringify(JSON.parse(json))),
		'a bigint beyond 2^53 keeps all its digits in the JSON',
	],
	[
		'writes timestamps without milliseconds that are zero',
		() => new Rewriting((json) => json.replaceAll('.000Z"', 'Z"')),
		'at keeps its values',
	],
	[
		'writes booleans as numbers',
		() => new Rewriting((json) => json.replaceAll(/:true/g, ':1')),
		'done keeps its values',
	],
	[
		'writes decimals as numbers',
		() => new Rewriting((json) => json.replaceAll(/"price":"([^"]+)"/g, '"price":$1')),
		'price keeps its values',
	],
	[
		'breaks base64 into lines',
		() => new Rewriting((json) => json.replaceAll(/"data":"([^"]{76})/g, '"data":"$1\\n')),
		'data keeps its values',
	],
	[
		'takes no backslash',
		() => new Storing(eachValue((value) => (typeof value === 'string' ? value.replaceAll('\\', '') : value))),
		'title keeps its values',
	],
	[
		'trims texts',
		() => new Storing(eachValue((value) => (typeof value === 'string' ? value.trim() : value))),
		'note keeps its values',
	],
	[
		'keeps texts of 255 characters',
		() => new Storing(eachValue((value) => (typeof value === 'string' ? value.slice(0, 255) : value))),
		'title keeps its values',
	],
	[
		'rounds timestamps to milliseconds',
		() => new Storing(eachValue((value, name) => (name === 'at' ? rounded(value) : value))),
		'a timestamp is cut to milliseconds on the wire, not rounded',
	],
	[
		'takes the empty text for null',
		() => new Storing(eachValue((value) => (value === '' ? null : value))),
		'note keeps its values',
	],
	[
		'has two values in its logic',
		() => new Misreading(twoValued),
		'logic is three-valued: neither a condition nor its opposite finds the unknown',
	],
	[
		'finds nulls by ne',
		() => new Misreading((where) => (where.op === 'ne' ? orNull(where) : where)),
		'logic is three-valued: neither a condition nor its opposite finds the unknown',
	],
	...(['contains', 'startsWith', 'endsWith'] as const).map(
		(op): Broken => [
			`takes a null for a text that not even the empty one is in, by ${op}`,
			() =>
				new Misreading((where) =>
					where.op === op && where.value === '' ? { op: 'null', field: where.field, value: false } : where,
				),
			'logic is three-valued: neither a condition nor its opposite finds the unknown',
		],
	),
	[
		'finds all by in nothing',
		() =>
			new Misreading((where) =>
				where.op === 'in' && where.values.length === 0 ? { op: 'and', terms: [] } : where,
			),
		'logic is three-valued: neither a condition nor its opposite finds the unknown',
	],
	[
		'finds nothing by and of nothing',
		() =>
			new Misreading((where) =>
				where.op === 'and' && where.terms.length === 0 ? { op: 'or', terms: [] } : where,
			),
		'logic is three-valued: neither a condition nor its opposite finds the unknown',
	],
	[
		'compares exact texts without case',
		() => new Misreading((where) => (where.op === 'eq' && where.exact === true ? anyCase(where) : where)),
		'an exact condition finds identical texts only',
	],
	[
		'compares lists of exact texts without case',
		() => new Misreading((where) => (where.op === 'in' && where.exact === true ? anyCase(where) : where)),
		'an exact condition finds identical texts only',
	],
	[
		'compares the exact texts of a guard without case',
		() => new Unguarded(({ where, version }) => ({ where: where && everywhere(where, anyCase), version })),
		'a record outside an exact condition is neither read, changed nor deleted',
	],
	[
		'replaces a lone surrogate with U+FFFD',
		() =>
			new Storing(
				eachValue((value) =>
					typeof value === 'string' ? value.replaceAll(/\p{Surrogate}/gu, '\ufffd') : value,
				),
			),
		'a lone surrogate is refused as invalid',
	],
	[
		'takes % for anything',
		() =>
			new Misreading((where) =>
				where.op === 'contains' && where.value === '%' ? { ...where, value: '' } : where,
			),
		'contains takes every character literally',
	],
	[
		'takes gte for gt',
		() => new Misreading((where) => (where.op === 'gte' ? { ...where, op: 'gt' } : where)),
		'order is compared by every operator',
	],
	[
		'compares bigints as floats',
		() =>
			new Misreading((where) =>
				'value' in where && typeof where.value === 'bigint' ? asFloat(where) : where,
			),
		'big is compared by every operator',
	],
	[
		'reads whatever the condition says',
		() =>
			new (class extends Passing {
				override read(...[id, selection]: Parameters<Model['read']>) {
					return super.read(id, selection, undefined)
				}
			})(),
		'a record outside the condition is not read, whatever is read at the same time',
	],
	[
		'replaces where it updates',
		() => new Replacing(),
		'update changes only the given fields, and returns the new record',
	],
	[
		'answers what was, by update',
		() => new AnsweringOld(),
		'update changes only the given fields, and returns the new record',
	],
	[
		'misses records that an update leaves alike',
		() => new CountingChanged(),
		'an update to the present values finds the record',
	],
	[
		'looks at no version',
		() => new Unguarded(({ where }) => ({ where, version: undefined })),
		'a record of another version is stale, and stays as it is',
	],
	[
		'looks at no condition when it changes',
		() => new Unguarded(({ version }) => ({ where: undefined, version })),
		'a record outside the condition is missing, whatever its version',
	],
	[
		'compares the version, then writes',
		() => new InTwoSteps(),
		'of many simultaneous updates of the same version one succeeds',
	],
	[
		'raises no version',
		() =>
			new (class extends Passing {
				override async update(...[id, changes, selection, guard]: Parameters<Model['update']>) {
					const updated = await super.update(id, changes, { ...selection, version: undefined }, guard)
					return typeof updated === 'object' ? { ...updated, version: '1' } : updated
				}
			})(),
		'the version begins at its default, is returned, and is incremented by every update',
	],
	[
		'calls all refusals invalid',
		() => new Failing(({ fields }) => new ModelError('invalid', fields)),
		'a required field is refused if it is null, or missing without a default',
	],
	[
		"throws its driver's errors",
		() => new Failing(({ kind }) => new Error(`SQLSTATE ${kind}`)),
		'a duplicate of a unique value is refused, naming the field or none',
	],
	[
		'names the constraint for the field',
		() => new Failing(({ kind }) => new ModelError(kind, ['contract_email_key'])),
		'a duplicate of a unique value is refused, naming the field or none',
	],
	[
		'has no transactions',
		() => new Untransacted(),
		'a transaction whose work fails rejects with its error, and changes nothing',
	],
	[
		'undoes by hand, and only what it has created',
		() => new Undoing(),
		'a transaction whose work fails rejects with its error, and changes nothing',
	],
	[
		'shows what a transaction is about to write',
		() => new Untransacted(),
		'writes of a failed transaction are never seen by others',
	],
	[
		'answers reads from older ones',
		() => new Joining(),
		'a read after an awaited write sees it, however many reads are in progress',
	],
	[
		'shares reads of different conditions',
		() => new Joining(),
		'a record outside the condition is not read, whatever is read at the same time',
	],
	[
		'remembers what it has read',
		() => new Remembering(),
		'a read after an awaited write sees it, however many reads are in progress',
	],
	[
		'deletes without a word of the record',
		() =>
			new (class extends Passing {
				override async delete(...given: Parameters<Model['delete']>) {
					const deleted = await super.delete(...given)
					return typeof deleted === 'object' ? { ...deleted, json: 'null' } : deleted
				}
			})(),
		'delete returns the record as it was, and then it is gone',
	],
	[
		'answers missing ids with an empty record',
		() =>
			new (class extends Passing {
				override async read(...given: Parameters<Model['read']>) {
					return (await super.read(...given)) ?? { json: '{}', version: undefined }
				}
			})(),
		'an id without a record reads as undefined',
	],
]

describe('modelContract', (test) => {
	const make = () => new MemoryModel('contract', CONTRACT_OPTIONS)

	test('passes a model that answers asynchronously, by delegation', async () => {
		assert.equal(await failuresOf({ make: async () => new Passing(), keys: CONTRACT_KEYS }), [])
	})

	test('passes related models that answer asynchronously, by delegation', async () => {
		assert.equal(await failuresOf({ make, relations: async () => linked({}) }), [])
	})

	test('has cases with different names', () => {
		const names = modelContract({ make, keys: CONTRACT_KEYS, relations: relatedModels }).map(
			({ name }) => name,
		)
		assert.is(new Set(names).size, names.length)
		assert.ok(names.length > 100)
	})

	test('tests nothing of skipped fields and features, and passes a model without them', async () => {
		const types = [
			'bigint',
			'float',
			'decimal',
			'boolean',
			'date',
			'time',
			'timestamp',
			'uuid',
			'json',
			'bytes',
		] as const
		const skip = [...types, 'microseconds', 'infinity', 'nan', 'maxLength', 'foreign_key'] as const
		const fields = Object.fromEntries(
			Object.entries(CONTRACT_OPTIONS.fields).filter(
				([, field]) => typeof field === 'object' && !types.some((type) => type === field.type),
			),
		)
		const poor = () => new MemoryModel('poor', { ...CONTRACT_OPTIONS, fields, references: [] })
		assert.equal(await failuresOf({ make: poor, skip }), [])
		const names = modelContract({ make, skip }).map(({ name }) => name)
		assert.is(names.includes('big keeps its values'), false)
		assert.is(names.includes('title keeps its values'), true)
		for (const feature of skip) {
			assert.ok(modelContract({ make, skip: [feature] }).length < modelContract({ make }).length, feature)
		}
	})

	test('skips key types without a model', () => {
		const without = modelContract({ make }).map(({ name }) => name)
		const { uuid } = CONTRACT_KEYS
		const withUuid = modelContract({ make, keys: { uuid } }).map(({ name }) => name)
		assert.equal(
			withUuid.filter((name) => !without.includes(name)),
			[
				'a uuid key is random unless it is given, and is written in lower case',
				'pages by a uuid key visit every record once',
			],
		)
	})

	test('closes the model after each case, also a failed one', async () => {
		let open = 0
		const options = {
			make: () => {
				open++
				return new AnsweringOld()
			},
			close: () => {
				open--
			},
		}
		const some = modelContract(options).filter(({ name }) => /^(?:update|delete|the total)/.test(name))
		const outcomes = await Promise.allSettled(some.map(({ run }) => run()))
		assert.equal(new Set(outcomes.map(({ status }) => status)), new Set(['rejected', 'fulfilled']))
		assert.is(open, 0)
	})
})

describe('modelContract fails', (test) => {
	for (const [what, make, found] of [...BROKEN, ...BROKEN_MANY, ...BROKEN_TOTALS]) {
		test(`a model that ${what}`, async () => {
			const cases = modelContract({ make })
			const named = cases.find(({ name }) => name === found)
			assert.ok(named !== undefined, `there is no case "${found}"`)
			const outcome = await named.run().then(
				() => 'nothing was found',
				(error: Error) => error.name,
			)
			if (outcome === 'AssertionError') return
			// All of the contract is a hundred times as much work: only to say which cases find it.
			assert.unreachable(`${outcome}; found by ${(await failuresOf({ make })).join('\n')}`)
		})
	}

	for (const [what, faults, found] of BROKEN_RELATIONS) {
		test(`a related model that ${what}`, async () => {
			const cases = modelContract({ make: () => new Passing(), relations: () => linked(faults) })
			const named = cases.find(({ name }) => name === found)
			assert.ok(named !== undefined, `there is no case "${found}"`)
			const outcome = await named.run().then(
				() => 'nothing was found',
				(error: Error) => error.name,
			)
			assert.is(outcome, 'AssertionError')
		})
	}
})

async function failuresOf(options: ModelContractOptions): Promise<string[]> {
	const failures: string[] = []
	for (const { name, run } of modelContract(options)) await run().catch(() => failures.push(name))
	return failures
}

function turned(query: ListQuery, descends: (term: ListQuery['order'][number]) => boolean): ListQuery {
	return { ...query, order: query.order.map((term) => ({ field: term.field, descending: descends(term) })) }
}

function recordsIn({ json }: { readonly json: string }): Record<string, unknown>[] {
	return JSON.parse(json) as Record<string, unknown>[]
}

/** The records whose title says that they have null, before all others. */
function nullsFirst(listed: Listed): Listed {
	const records = recordsIn(listed)
	const isNull = (record: Record<string, unknown>) => record.title === 'null'
	const sorted = [...records.filter(isNull), ...records.filter((record) => !isNull(record))]
	return { ...listed, json: JSON.stringify(sorted) }
}

function sizeOf(listed: Listed): number {
	return recordsIn(listed).length
}

function sortKeys(json: string): string {
	const sorted = (value: unknown): unknown =>
		Array.isArray(value)
			? value.map(sorted)
			: Object.fromEntries(Object.entries(value as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
	return JSON.stringify(sorted(JSON.parse(json)))
}

function rounded(value: unknown): string {
	const [whole = '', micros = '0'] = String(value)
		.replace('Z', '')
		.split(/(?<=\.\d{3})/)
	const time = new Date(`${whole}Z`).getTime() + Math.round(Number(`0.${micros}`))
	return new Date(time).toISOString()
}

/** Two values: a comparison with null is false, so that its opposite is true. */
function twoValued(where: Condition): Condition {
	if (where.op !== 'not' || !('field' in where.term)) return where
	return { op: 'or', terms: [where, { op: 'null', field: where.term.field, value: true }] }
}

function asFloat(where: Condition): Condition {
	if (!('value' in where) || typeof where.value !== 'bigint' || where.value >= 2n ** 62n) return where
	return { ...where, value: BigInt(Number(where.value)) } as Condition
}

/** What is equal to a text, or in a list, without case. */
function anyCase(where: Condition): Condition {
	if (where.op === 'in') return { op: 'in', field: where.field, values: where.values.flatMap(cases) }
	// `eq` is of one value; TypeScript doesn't see it, as one member of the union has many operators.
	if (where.op !== 'eq' || !('value' in where)) return where
	return { op: 'in', field: where.field, values: cases(where.value) }
}

function cases(value: Exclude<Value, null>): Exclude<Value, null>[] {
	return typeof value === 'string' ? [value, value.toLowerCase(), value.toUpperCase()] : [value]
}

function orNull(where: Condition & { readonly field: string }): Condition {
	return { op: 'or', terms: [where, { op: 'null', field: where.field, value: true }] }
}
