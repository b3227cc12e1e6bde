/**
 * Related records where a subclass overrides the other handler's `list` or `read`: that method is called for each record,
 * because it may hide or change records. The status and headers that it sets have no effect.
 */
import { isRestError, RestError } from '../../base/error.ts'
import { idOfKey } from '../../models/key.ts'
import type { Model } from '../../models/model.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { CrudPage, CrudRecord, stripRecords } from '../answers.ts'
import { allOf } from '../filter-comparison.ts'
import type { CrudPlan } from '../plan.ts'
import type { NonNullValue } from '../value-from-text.ts'
import { beginState, type CrudView, FACTS } from '../view.ts'
import type { RelatedAccess } from './access.ts'
import type { Include } from './parse-include.ts'
import { fieldsNamed, idsOf, isIdIn, isRelated } from './records.ts'

/** What the methods need of the request. */
export interface Asking {
	readonly access: RelatedAccess
	/** The model of a handler, in its session and in the request's transaction. */
	modelOf(plan: CrudPlan): Model
	/** Lets the operations of another handler's view run in the request's transaction, where they can. */
	enter(view: CrudView): void
}

/**
 * The related records of each record, as JSON.
 *
 * @param values each record's values of the link; `undefined` if one is null
 * @param spend counts the bytes of an answer, and throws if there are too many
 * @throws what the methods throw
 */
export async function overriddenTexts(
	asking: Asking,
	include: Include,
	values: readonly (readonly NonNullValue[] | undefined)[],
	spend: (text: string) => void,
): Promise<readonly string[]> {
	const { link, to } = include.relation
	const counted = async (text: Promise<string>) => {
		spend(await text)
		return text
	}
	if (link.isMany) return eachOf(values, (one) => counted(overriddenList(asking, include, one)))
	const types = link.to.flatMap((name) => fieldsNamed(to, [name]).map(({ field }) => field))
	const isId = isIdIn(to, link)
	const records = new Map<string, Promise<string>>()
	return eachOf(values, async (one) => {
		if (one === undefined) return 'null'
		const identity = idOfKey(one, types)
		const record = records.get(identity) ?? counted(readOne(one, identity))
		records.set(identity, record)
		return record
	})

	async function readOne(one: readonly NonNullValue[], identity: string): Promise<string> {
		if (isId) return overriddenRecord(asking, include, identity)
		const { where } = await asking.access.scope(include.relation)
		const { keys, selections } = to
		const [id] = await idsOf(
			{ model: asking.modelOf(to), keys, selections },
			allOf(where, isRelated(include.relation, one)),
			1,
		)
		return id === undefined ? 'null' : overriddenRecord(asking, include, id)
	}
}

/** One record as the other handler's `read` answers it; null if it isn't found. */
async function overriddenRecord(asking: Asking, include: Include, id: string): Promise<string> {
	const { view, failure } = await quietView(asking, include)
	try {
		const answer = await view.read(id)
		const error = failure()
		if (error !== undefined) throw error
		return jsonOf(view, answer)
	} catch (error) {
		if (isRestError(error) && error.code === 'not_found') return 'null'
		throw error
	}
}

async function overriddenList(
	asking: Asking,
	include: Include,
	values: readonly NonNullValue[] | undefined,
): Promise<string> {
	const { relation, selection, where, order, limit, count, stamp } = include
	const empty = `{"data":[],"meta":${JSON.stringify({ limit, next: null })}}`
	if (values === undefined) return empty
	const { view, failure } = await quietView(asking, include)
	const related = isRelated(relation, values)
	const isBounded = count !== undefined && count !== Number.POSITIVE_INFINITY
	const answer = await view.list({
		...{ selection, include: include.include, order, limit, offset: 0, after: undefined, stamp },
		where: where === undefined ? related : { op: 'and', terms: [related, where] },
		total: count !== undefined || limit === 0,
		...(isBounded ? { maxTotal: count } : {}),
	})
	const error = failure()
	if (error !== undefined) throw error
	const { offset: _, ...meta } = answer instanceof CrudPage ? answer.meta : { offset: 0, limit, next: null }
	return `{"data":${answer == null ? '[]' : jsonOf(view, answer)},"meta":${JSON.stringify(meta)}}`
}

function jsonOf(view: CrudView, answer: unknown): string {
	const { isStripped } = view[FACTS]
	const isRecord = answer instanceof CrudRecord || answer instanceof CrudPage
	if (isRecord && !isStripped) return answer.text
	const value = answer instanceof RawJson ? answer.value() : answer
	return JSON.stringify(isStripped ? stripRecords(view, value) : value) ?? 'null'
}

/** A view whose calls don't change the reply, and the error that its method has recorded. */
async function quietView(
	{ access, enter }: Asking,
	{ relation, selection, include }: Include,
): Promise<{ readonly view: CrudView; readonly failure: () => RestError | undefined }> {
	const view = await access.view(relation)
	enter(view)
	let failure: RestError | undefined
	const record = (message: string, code: number | string = 400) => {
		failure ??= new RestError(code, message)
		return null
	}
	const ignore = () => {}
	Object.defineProperties(view, {
		error: { value: record },
		status: { value: ignore },
		header: { value: ignore },
	})
	beginState(view, { selection, include })
	return { view, failure: () => failure }
}

/** Maximum number of concurrent calls. */
const MAX_CONCURRENT = 4

/** Calls `run` for each item, a few at the same time; the results are in the order of the items. */
export async function eachOf<I, O>(items: readonly I[], run: (item: I) => Promise<O>): Promise<readonly O[]> {
	const results: O[] = []
	const rest = items.entries()
	const worker = async () => {
		for (const [at, item] of rest) results[at] = await run(item)
	}
	await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker))
	return results
}
