/**
 * New records with their related ones, in the body of one POST: `{"title":"x","comments":[{"text":"y"}]}`. Where a relation
 * has `writable: ['create']`, each of its records is checked as in a request to its own handler, and all are stored in one
 * transaction. Called by `operations.ts`.
 */
import type { Exchange } from '../../exchange/exchange.ts'
import { exchangeOf } from '../../handler/view.ts'
import { countRequest } from '../../pipeline/enforce-limits.ts'
import { invalid } from '../../validate/problem.ts'
import type { Validator } from '../../validate/validator.ts'
import type { Detail } from '../../wire/codes.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { CrudRecord, recordOf } from '../answers.ts'
import { memberTexts, withMembers } from '../json-text.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { modelOf, recordRelated, resolveScope, translateModelErrors } from '../reads.ts'
import { limitOf, relatedAccess } from '../relations/access.ts'
import { type Include, NO_INCLUDE } from '../relations/parse-include.ts'
import { fieldsNamed, nothing, recordsIn, scopeBelow, valuesOf } from '../relations/records.ts'
import { complete } from '../relations/related.ts'
import { both, EVERYTHING, type Scope } from '../scope.ts'
import { type Transacting, transaction } from '../transaction.ts'
import { beginState, type CrudView, FACTS, STATE, WITHIN } from '../view.ts'
import { BodyReader, checkedChanges, type WrittenValues } from '../write.ts'
import { addProblems, collectEach, placed } from './check-list.ts'
import { createEachOrAll } from './create.ts'

/** A relation whose records may be created with those that they belong to. */
interface Creatable {
	readonly relation: Relation
	readonly bodies: BodyReader
}

/** The related records of a body, by relation. */
export type Given = readonly (readonly [relation: Creatable, records: readonly unknown[]])[]

type Body = Readonly<Record<string, unknown>>

/** The relations whose records may be created together with a handler's new records. */
export class Nested {
	readonly #creatable = new Map<string, Creatable>()

	/** @throws TypeError for invalid rules of the other handlers */
	constructor({ relations }: CrudPlan, validator: Validator | undefined) {
		for (const [name, relation] of relations) {
			if (!relation.canCreate) continue
			const target = (relation.handler as CrudView)[FACTS] // a CrudHandler, checked by `relations.ts`
			this.#creatable.set(name, { relation, bodies: new BodyReader(relation.to, target.rules, validator) })
		}
	}

	/**
	 * Splits a body into that of the record, and its related records.
	 *
	 * @throws RestError `invalid` for related records that aren't a list, and for too many
	 */
	split({ maxBatch }: CrudPlan, body: Body): { readonly own: Body; readonly given: Given } {
		const given: [Creatable, readonly unknown[]][] = []
		const own: Record<string, unknown> = Object.create(null)
		let count = 0
		for (const [name, value] of Object.entries(body)) {
			const creatable = this.#creatable.get(name)
			if (creatable === undefined) own[name] = value
			else if (!Array.isArray(value))
				throw invalid([{ field: name, code: 'array', message: 'must be a list of records' }])
			else if (value.length > 0) given.push([creatable, value])
			count += creatable !== undefined && Array.isArray(value) ? value.length : 0
			if (count > maxBatch)
				throw invalid([{ field: name, code: 'max', message: `must have at most ${maxBatch} records` }])
		}
		return { own, given }
	}
}

/** Checked records of a relation, and a view of their handler. */
interface Checked {
	readonly relation: Relation
	readonly target: CrudView
	/** The scope of the related records, without the foreign key to the new record. */
	readonly own: Scope
	readonly records: readonly WrittenValues[]
}

/**
 * Creates a record with its related ones.
 *
 * @param read reads the record's own values
 * @param create creates the record
 * @throws RestError as requests for each of them, whose fields are named `comments.3.text`
 */
export async function createNested(
	view: CrudView,
	given: Given,
	read: () => WrittenValues | Promise<WrittenValues>,
	create: (values: WrittenValues) => Promise<unknown>,
): Promise<unknown> {
	const exchange = exchangeOf(view, 'create')
	const problems: Detail[] = []
	let values: WrittenValues | undefined
	try {
		values = await read()
	} catch (error) {
		addProblems(problems, error)
	}
	const checked: Checked[] = []
	for (const [creatable, records] of given)
		checked.push(await checkedRecords(exchange, creatable, records, problems))
	if (problems.length > 0 || values === undefined) throw invalid(problems)
	const requested = view[STATE]
	const members = [view, ...checked.map(({ target }) => target)] as unknown as [Transacting] // CrudHandlers' views
	return transaction(members, async () => {
		// Included records are read at the end: they are not there yet.
		if (requested.include.length > 0) beginState(view, { ...requested, include: NO_INCLUDE })
		const answer = await create(values)
		if (!(answer instanceof CrudRecord))
			throw new TypeError(
				`${view[FACTS].plan.owner}.create() must return what super.create() returns, so that other records can belong to it`,
			)
		for (const one of checked) await createBelow(view, answer.id, one)
		if (requested.include.length === 0) return answer
		const { created } = view[STATE]
		beginState(view, requested).created = created
		return withRelated(view, answer, created?.text)
	})
}

async function checkedRecords(
	exchange: Exchange,
	{ relation, bodies }: Creatable,
	given: readonly unknown[],
	problems: Detail[],
): Promise<Checked> {
	const access = relatedAccess(exchange)
	const use = { ...relation, operation: 'create' as const }
	await access.check(use)
	const limit = limitOf(relation.handler, relation.to, 'create')
	if (limit !== undefined) await countRequest(exchange, limit)
	const target = await access.view(use)
	const own = await resolveScope(target, 'create')
	// Clients can't write the foreign key: it is only known when the new record has been created.
	const scope = { ...own, fixed: new Set([...own.fixed, ...relation.link.to]) }
	const { plan } = target[FACTS]
	const records = await collectEach(given, problems, `${relation.name}.`, (body) =>
		bodies.read({ plan, kind: 'create', isText: false, body, scope, id: undefined }),
	)
	return { relation, target, own, records }
}

/** Creates records that belong to the one with this id. */
async function createBelow(
	view: CrudView,
	id: string,
	{ relation, target, own, records }: Checked,
): Promise<void> {
	const { plan } = view[FACTS]
	const { link } = relation
	const fields = fieldsNamed(plan, link.fields)
	const selection = plan.selections.extended(nothing(plan.selections), fields)
	const model = await modelOf(view)
	const found = await translateModelErrors(view, 'create', () => model.read(id, selection, undefined))
	const [text] = found === undefined ? [] : recordsIn(found.json, selection, fields).texts
	const values = text && valuesOf(text, link.fields, fields)
	if (values === undefined) throw new TypeError(`the new record has no ${link.fields.join(', ')} to refer to`)
	const within = scopeBelow(relation, values)
	Object.defineProperty(target, WITHIN, { value: within, configurable: true })
	try {
		const scope = both(own, within)
		const changes = records.map((one) => checkedChanges(target[FACTS].plan, one))
		await createEachOrAll(target, scope, records, changes)
	} catch (error) {
		throw placed(error, relation.name)
	}
}

/**
 * Reads the new record again, with the related records that the request includes.
 *
 * @param answer what `create()` has returned
 * @param created what `super.create()` has returned within an override
 */
async function withRelated(view: CrudView, answer: CrudRecord, created = '{}'): Promise<CrudRecord> {
	const { id, text } = answer
	const more = await recordRelated(view, false)
	const model = await modelOf(view)
	const selection = more?.selection ?? view[STATE].selection
	const found = await translateModelErrors(view, 'create', () => model.read(id, selection, EVERYTHING.where))
	if (found === undefined || more === undefined) throw new TypeError('a record just created is gone')
	const record = recordOf(view, id, await complete(view[FACTS].plan, more, found.json), found.version)
	if (text === created) return record
	// Something that related records can't be added to.
	if (!text.startsWith('{')) return answer
	return record.with(new RawJson(merged(created, text, record.text, view[STATE].include)))
}

/** What an override has answered, with its own members, and the others as they are now: triggers may have changed them. */
function merged(created: string, answered: string, now: string, include: readonly Include[]): string {
	const [before, after] = [memberTexts(created), memberTexts(now)]
	const names = new Set(include.map(({ relation }) => relation.name))
	const own = [...memberTexts(answered)].filter(([name]) => !names.has(name))
	const members = own.map(([name, text]): [string, string] => {
		return [name, isSame(before.get(name), text) ? (after.get(name) ?? text) : text]
	})
	const included = [...after].filter(([name]) => names.has(name))
	return withMembers('{}', [...members, ...included])
}

/** Whether an override has left a value as it was: it may have parsed and written it. */
function isSame(before: string | undefined, text: string): boolean {
	return before === text || (before !== undefined && JSON.stringify(JSON.parse(before)) === text)
}
