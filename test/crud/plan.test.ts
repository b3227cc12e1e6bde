import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel, type Model } from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { articleModel, OPTIONS } from './articles.ts'

const FIELDS = 'id, title, body, state, rating, published, owner, secret, revision'

/** The message for options, including those that TypeScript refuses. */
function refusal(options: unknown, model: Model = articleModel()): string {
	return messageOf(() => new CrudHandler(model, options as CrudOptions))
}

describe('crud/plan', (test) => {
	const refused: [object | undefined, string][] = [
		[
			undefined,
			`CrudHandler of article needs the option visible, the columns that clients may see: article has ${FIELDS}; 'all' shows all of them`,
		],
		[
			{ updatable: ['title'] },
			`CrudHandler of article needs the option visible, the columns that clients may see: article has ${FIELDS}; 'all' shows all of them`,
		],
		[
			{ visible: 'all', access: {} },
			'CrudHandler has no option access: it is a member of the class, class Own extends CrudHandler { override access … }',
		],
		[{ visible: [] }, `CrudHandler of article: visible names no column: there are ${FIELDS}`],
		[{ visible: 'title' }, "CrudHandler of article: visible must be an array of names, or 'all'"],
		[{ visible: [5] }, "CrudHandler of article: visible must be an array of names, or 'all'"],
		[
			{ visible: ['titel'] },
			'CrudHandler of article: visible: article has no column titel: did you mean title?',
		],
		[
			{ visible: 'all', updateable: [] },
			'CrudHandler of article has no option updateable: did you mean updatable?',
		],
		[{ visible: 'all', updatable: 'all' }, 'CrudHandler of article: updatable must be an array of names'],
		[
			{ visible: 'all', updatable: ['tile'] },
			'CrudHandler of article: updatable: article has no column tile: did you mean title?',
		],
		[
			{ visible: 'all', updatable: ['id'] },
			'CrudHandler of article: updatable: id is the key, which never changes',
		],
		[
			{ visible: ['id'], filterable: ['secret'] },
			"CrudHandler of article: filterable: secret isn't visible, and this would let clients infer its values: add it to visible",
		],
		[
			{ visible: ['id'], sortable: ['secret'] },
			"CrudHandler of article: sortable: secret isn't visible, and this would let clients infer its values: add it to visible",
		],
		[
			{ visible: ['id'], searchable: ['secret'] },
			"CrudHandler of article: searchable: secret isn't visible, and this would let clients infer its values: add it to visible",
		],
		[
			{ visible: 'all', searchable: ['id'] },
			'CrudHandler of article: searchable: id is of type integer, not a text',
		],
		[
			{ visible: 'all', allow: ['delete'] },
			'CrudHandler of article: allow: there is no operation delete; there are list, read, create, update, replace, remove',
		],
		[
			{ visible: 'all', allow: ['create'] },
			'CrudHandler of article: allow has create, but no article could be made without title: make it creatable, or set it in scope() or create()',
		],
		[
			{ visible: 'all', version: 'title' },
			'CrudHandler of article: version: title must be a column of whole numbers that is not null, not generated and not the key',
		],
		[
			{ visible: 'all', version: 'id' },
			'CrudHandler of article: version: id must be a column of whole numbers that is not null, not generated and not the key',
		],
		[{ visible: 'all', version: 'rev' }, 'CrudHandler of article: version: article has no column rev'],
		[
			{ visible: 'all', version: 'revision', updatable: ['revision'] },
			'CrudHandler of article: updatable: revision is the version, which every change increments',
		],
		[
			{ visible: 'all', version: 'revision', updatable: ['title'], creatable: ['revision'] },
			'CrudHandler of article: creatable: revision is the version, which every change increments',
		],
		[{ visible: 'all', limit: 0 }, 'CrudHandler of article: limit must be a whole number from 1 up, got 0'],
		[
			{ visible: 'all', maxIn: 0 },
			'CrudHandler of article: maxIn must be a whole number from 1 to 10000, got 0',
		],
		[
			{ visible: 'all', maxIn: 10_001 },
			'CrudHandler of article: maxIn must be a whole number from 1 to 10000, got 10001',
		],
		[
			{ visible: 'all', maxPageBytes: 0 },
			'CrudHandler of article: maxPageBytes must be a whole number from 1 to 268435456, got 0',
		],
		[
			{ visible: 'all', maxPageBytes: 1.5 },
			'CrudHandler of article: maxPageBytes must be a whole number from 1 to 268435456, got 1.5',
		],
		[
			{ visible: 'all', maxPageBytes: 268_435_457 },
			'CrudHandler of article: maxPageBytes must be a whole number from 1 to 268435456, got 268435457',
		],
		[
			{ visible: 'all', maxPageBytes: Number.NaN },
			'CrudHandler of article: maxPageBytes must be a whole number from 1 to 268435456, got NaN',
		],
		[
			{ visible: 'all', maxTextTerms: 101 },
			'CrudHandler of article: maxTextTerms must be a whole number from 1 to 100, got 101',
		],
		[
			{ visible: 'all', searchable: ['title', 'body'], maxTextTerms: 1 },
			'CrudHandler of article: searchable has 2 fields, and each word of a search is looked for in all of them: raise maxTextTerms, which is 1',
		],
		[
			{ visible: 'all', maxLimit: 1.5 },
			'CrudHandler of article: maxLimit must be a whole number from 1 up, got 1.5',
		],
		[
			{ visible: 'all', limit: 200 },
			'CrudHandler of article: limit 200 is more than maxLimit 100: raise maxLimit',
		],
		[{ visible: 'all', ignoreQuery: 'a' }, 'CrudHandler of article: ignoreQuery must be an array of names'],
		[
			{ visible: 'all', columns: 'snake' },
			"CrudHandler of article: columns must be a plain object: { createdAt: 'created_at' }, or 'camelCase'",
		],
		[
			{ visible: 'all', columns: { name: 'titel' } },
			'CrudHandler of article: columns.name: article has no column titel: did you mean title?',
		],
		[
			{ visible: 'all', columns: { a: 'title', b: 'title' } },
			'CrudHandler of article: columns gives title two names, a and b',
		],
		[
			{ visible: 'all', columns: { title: 'body' } },
			'CrudHandler of article: columns calls both title and body title: give one of them another name',
		],
	]
	for (const [options, message] of refused) {
		test(`${JSON.stringify(options)} is refused`, () => {
			const said = refusal(options)
			assert.is(said.slice(0, message.length), message)
		})
	}

	test('without a model, the error says what a model is', () => {
		assert.match(
			refusal({ visible: 'all' }, null as unknown as Model),
			/^CrudHandler needs a model, such as a MemoryModel .*, got none$/,
		)
		const promise = Promise.resolve() as unknown as Model
		assert.match(refusal({ visible: 'all' }, promise), /got a promise: await its open\(\) first$/)
		assert.match(refusal({ visible: 'all' }, 'customer' as unknown as Model), /, got "customer"$/)
	})

	test('errors name the subclass', () => {
		class Articles extends CrudHandler {}
		assert.match(
			messageOf(() => new Articles(articleModel(), { ...OPTIONS, limit: -1 })),
			/^Articles: limit must be/,
		)
	})

	test('a read-only model allows no writes', () => {
		const model = new MemoryModel('view', { key: 'id', fields: { id: 'integer' }, readOnly: true })
		assert.is(
			refusal({ visible: 'all', allow: ['list', 'remove'] }, model),
			"CrudHandler of view: allow: view can only be read, so remove can't be allowed",
		)
		assert.is(new CrudHandler(model, { visible: 'all' }).model, model)
	})

	test('generated columns are never writable', () => {
		const fields = { id: 'integer', made: { type: 'integer', generated: true, default: 1 } } as const
		const model = new MemoryModel('t', { key: 'id', fields })
		assert.is(
			refusal({ visible: 'all', creatable: ['made'] }, model),
			'CrudHandler of t: creatable: made is written by the store alone',
		)
	})

	test('a create that a subclass completes is accepted', () => {
		class Complete extends CrudHandler {
			override create(values: Record<string, unknown>) {
				return super.create({ ...values, title: 'Made' })
			}
		}
		class Scoped extends CrudHandler {
			override scope() {
				return { title: 'Mine' }
			}
		}
		for (const Handler of [Complete, Scoped])
			assert.instance(new Handler(articleModel(), { visible: 'all', allow: ['create'] }), CrudHandler)
	})
})
