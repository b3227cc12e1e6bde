/**
 * `updateMany`: a list of records with their ids in the body of PATCH. Each is changed as by a single update, with the same
 * scope, and all in one transaction. Called by `operations.ts`, and by the handler's method.
 */
import { exchangeOf } from '../../handler/view.ts'
import type { Changes } from '../../models/model.ts'
import { invalid } from '../../validate/problem.ts'
import type { Detail } from '../../wire/codes.ts'
import { listOf } from '../answers.ts'
import { beginRecordState } from '../asked.ts'
import { changeWithin } from '../changes.ts'
import type { CrudPlan } from '../plan.ts'
import { checkedId, modelId, resolveScope, translateModelErrors } from '../reads.ts'
import { namingKeys } from '../record-id.ts'
import type { Scope } from '../scope.ts'
import { together } from '../transaction.ts'
import { givenChanges } from '../value-from-json.ts'
import { beginState, type CrudView, FACTS, STATE } from '../view.ts'
import { type BodyReader, checkedChanges, type WrittenValues } from '../write.ts'
import { boundAnswers, checkedEach, placed, refuseInclude, refuseTags } from './check-list.ts'

/** One record of the list. */
interface Change {
	readonly id: string
	/** The version that it must have; `undefined` for any. */
	readonly version: string | undefined
	/** By the names for clients, for an overridden `update()`. */
	readonly values: WrittenValues
	/** By the model's names. */
	readonly changes: Changes
}

type Given = Readonly<Record<string, unknown>>

/** Serves an `updateMany` request. */
export async function updateMany(view: CrudView, bodies: BodyReader): Promise<unknown> {
	const exchange = exchangeOf(view, 'updateMany')
	beginRecordState(view, exchange)
	const { plan, overridden } = view[FACTS]
	refuseInclude(view)
	refuseTags(exchange)
	const scope = await resolveScope(view, 'update')
	const naming = namingKeys(plan, scope)
	const changes = await checkedEach(plan, exchange, async (body): Promise<Change> => {
		const id = modelId(view, checkedId(view, keyIn(plan, naming, body)), scope)
		const given = { plan, kind: 'update', isText: false, body, scope, id } as const
		const version = versionIn(plan, body)
		const values = await bodies.read(given)
		return { id, version, values, changes: checkedChanges(plan, values) }
	})
	const answers = await (overridden.has('updateMany')
		? translateModelErrors(view, 'updateMany', () => view.updateMany(changes.map(recordOf(plan))))
		: changeAll(view, scope, changes))
	return Array.isArray(answers) ? listOf(view, answers) : answers
}

/** The handler's method, with records that a program passes: the key's fields, and those to change. */
export async function updateManyRecords(
	view: CrudView,
	given: readonly Given[],
): Promise<readonly unknown[]> {
	const { plan } = view[FACTS]
	const changes = given.map((record) => {
		const values = Object.entries(record).filter(
			([name]) => !plan.keyReaders.has(name) && name !== plan.version?.name,
		)
		const id = checkedId(view, keyIn(plan, plan.keys, record))
		const own = Object.fromEntries(values) as WrittenValues // checked by `givenChanges`
		return { id, version: versionOf(plan, record), values: own, changes: givenChanges(plan, 'update', own) }
	})
	return changeAll(view, await resolveScope(view, 'update'), changes)
}

/**
 * The id of a record in a list: the value of the key; of a composite key, the values of all its fields, or only of `naming`.
 *
 * @throws RestError `invalid`
 */
function keyIn({ keys }: CrudPlan, naming: CrudPlan['keys'], record: Given): unknown {
	const given = keys.every(({ name }) => Object.hasOwn(record, name)) ? keys : naming
	const problems: Detail[] = []
	for (const { name } of given) {
		const value = record[name] ?? null
		if (value === null) problems.push({ field: name, code: 'required', message: 'is required' })
		// None of these can be in a URL. Objects first: JSON can contain a `toString` that isn't a function.
		else if (typeof value === 'object' || /\p{Surrogate}/u.test(String(value)) || isRounded(value))
			problems.push({ field: name, code: 'id', message: 'must be a valid id' })
	}
	if (problems.length > 0) throw invalid(problems)
	return keys.length === 1 ? record[keys[0]?.name ?? ''] : given.map(({ name }) => record[name])
}

/** Whether it is a number that JSON.parse() may have rounded: it could name another record. Such a key is sent as a text. */
function isRounded(value: unknown): boolean {
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER
}

/** The version in a record of a body: a hidden one is refused as other hidden fields are. @throws RestError `invalid` */
export function versionIn(plan: CrudPlan, record: Given): string | undefined {
	return plan.visible.has(plan.version?.name ?? '') ? versionOf(plan, record) : undefined
}

/** The version in a record. @throws RestError `invalid` for what isn't a whole number */
function versionOf({ version }: CrudPlan, record: Given): string | undefined {
	const given = version && record[version.name]
	if (given === undefined || version === undefined) return undefined
	const text = typeof given === 'object' ? '' : String(given)
	if (/^-?\d{1,20}$/.test(text) && !isRounded(given)) return text
	throw invalid([{ field: version.name, code: 'integer', message: 'must be the version of the record' }])
}

/** The record as an override of `updateMany()` gets it. */
function recordOf({ keys, keyReaders, version }: CrudPlan): (change: Change) => Given {
	return ({ id, version: required, values }) => {
		const texts = keys.length === 1 ? [id] : id.split(',').map(decodeURIComponent)
		const key = [...keyReaders.keys()].map((name, at) => [name, texts[at]])
		const more = version === undefined || required === undefined ? {} : { [version.name]: required }
		return { ...Object.fromEntries(key), ...more, ...values }
	}
}

/**
 * Changes the records in the order of their ids, as `removeMany` does, so that two requests for the same records rarely deadlock.
 */
async function changeAll(
	view: CrudView,
	scope: Scope,
	changes: readonly Change[],
): Promise<readonly unknown[]> {
	const compare = orderOf(view[FACTS].plan)
	const order = [...changes.entries()].sort(([, a], [, b]) => compare(a.id, b.id))
	return together(view, async (within) => {
		const state = Object.isFrozen(within[STATE]) ? beginState(within, within[STATE]) : within[STATE]
		const answers: unknown[] = []
		const count = boundAnswers(view[FACTS].plan)
		for (const [index, change] of order) {
			try {
				state.version = change.version
				answers[index] = count(await changeOne(within, scope, change))
			} catch (error) {
				throw placed(error, index)
			} finally {
				state.version = undefined
			}
		}
		return answers
	})
}

function orderOf({ keys }: CrudPlan): (a: string, b: string) => number {
	const type = keys.length === 1 ? keys[0]?.field.type : undefined
	const isNumber = type === 'integer' || type === 'bigint'
	return isNumber ? (a, b) => Number(BigInt(a) - BigInt(b)) : (a, b) => (a < b ? -1 : Number(a > b))
}

/** Changes a record, by an overridden `update()`, which a list must not get around. */
function changeOne(view: CrudView, scope: Scope, { id, values, changes }: Change): Promise<unknown> {
	if (!view[FACTS].overridden.has('update')) return changeWithin(view, 'update', id, scope, changes)
	return translateModelErrors(view, 'update', () => view.update(id, values))
}
