/** Checks the bodies of writes, and converts them to values for the model. Called by `operations.ts`. */

import type { Exchange } from '../exchange/exchange.ts'
import { type Changes, DEFAULT, type Field, type Value } from '../models/model.ts'
import { type CheckContext, checkPlan } from '../validate/check.ts'
import type { Plan } from '../validate/plan.ts'
import { invalid, invalidForm, MAX_PROBLEMS, nest, note } from '../validate/problem.ts'
import { collectResults, type SchemaResults, syncResults } from '../validate/standard-schema.ts'
import type { Validator } from '../validate/validator.ts'
import type { Detail } from '../wire/codes.ts'
import { splitId } from '../wire/record-id.ts'
import type { CrudField, FieldMap } from './fields.ts'
import type { CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { truncatedName } from './query-values.ts'
import { compiledRules, type Ruled } from './rules.ts'
import type { Scope } from './scope.ts'
import { storedFromText, valueFromJson } from './value-from-json.ts'

export type WriteKind = 'create' | 'update' | 'replace'

/** A body, with the context that it is checked in. */
export interface WriteBody {
	/** The plan for this request: without the fields that `fields()` hides. */
	readonly plan: CrudPlan
	readonly kind: WriteKind
	readonly body: Readonly<Record<string, unknown>>
	/** Whether values are texts, as in a form. */
	readonly isText: boolean
	/** Whether an empty text is kept as it is; from a form, it may mean null. @default false */
	readonly isExact?: boolean
	readonly scope: Scope
	/** The id of the whole key; `undefined` for a new record. */
	readonly id: string | undefined
}

/** Values to write, by the names for clients. */
export type WrittenValues = Record<string, Value | typeof DEFAULT>

/** Checked values, by the model's names. */
export function checkedChanges({ fields, isRenamed }: CrudPlan, checked: WrittenValues): Changes {
	if (!isRenamed) return checked
	const changes: WrittenValues = {}
	for (const name of Object.keys(checked)) {
		const value = checked[name]
		const field = fields.get(name)
		if (field !== undefined && value !== undefined) changes[field.field.name] = value
	}
	return changes
}

/** An override may store files; otherwise they would be lost without a word. @throws RestError `invalid` */
export function refuseFiles({ body }: Exchange): void {
	const decoded = body.decoded()
	const names = decoded.kind === 'multipart' ? Object.keys(decoded.files) : []
	const message = 'is a file, which a record has no place for: send bytes as base64 text'
	if (names.length > 0)
		throw invalid(names.map((name) => ({ field: truncatedName(name), code: 'file', message })))
}

/** Reads and checks bodies, by the columns and rules of one mounted handler. */
export class BodyReader {
	readonly #rules: ReadonlyMap<string, Ruled>
	/** Whether a rule is a Standard Schema, whose result may be a promise. */
	readonly #hasSchemas: boolean

	/** @throws TypeError as `compiledRules` */
	constructor(plan: CrudPlan, rules: CrudRules, validator: Validator | undefined) {
		this.#rules = compiledRules(plan, rules, validator)
		this.#hasSchemas = [...this.#rules.values()].some(({ rules }) => rules.schema !== undefined)
	}

	/**
	 * The values of the writable fields in a body. Other visible fields are ignored, so that clients can send back a record
	 * that they have read.
	 *
	 * @throws RestError `invalid` with all problems at once
	 */
	read(given: WriteBody): WrittenValues | Promise<WrittenValues> {
		return this.#hasSchemas ? this.#readBySchemas(given) : this.#checked(given, syncResults)
	}

	async #readBySchemas(given: WriteBody): Promise<WrittenValues> {
		const results = await collectResults((pending) => {
			this.#values(given, { coerce: given.isText, problems: [], results: pending })
		})
		return this.#checked(given, results)
	}

	#checked(given: WriteBody, results: SchemaResults): WrittenValues {
		const context: CheckContext = { coerce: given.isText, problems: [], results }
		this.#noteUnwritable(given, context.problems)
		const values = this.#values(given, context)
		const { problems } = context
		if (problems.length > 0) throw given.isText ? invalidForm(problems, given.body) : invalid(problems)
		return values
	}

	/** Notes a problem for each field that can't be written, and for an id that differs from the URL's. */
	#noteUnwritable(given: WriteBody, problems: Detail[]): void {
		const { plan, body, scope, id } = given
		const { keyReaders, visible } = plan
		const writable = writableOf(given)
		const values = id === undefined ? undefined : splitId(id, keyReaders.size)
		for (const name of Object.keys(body)) {
			if (problems.length >= MAX_PROBLEMS) return
			const field = writable.get(name)
			if (field !== undefined && !scope.fixed.has(field.field.name)) continue
			// The same message for hidden and unknown fields, so that clients can't find out which names exist.
			if (plan.dialect !== undefined && plan.relations.has(name)) continue
			if (!visible.has(name)) {
				problems.push({
					field: truncatedName(name),
					code: 'unknown',
					message: 'is not a field that can be written',
				})
				continue
			}
			const read = keyReaders.get(name)
			if (
				read !== undefined &&
				values !== undefined &&
				read(idText(body[name])) !== values[[...keyReaders.keys()].indexOf(name)]
			)
				problems.push({ field: name, code: 'id', message: 'must be the id in the URL' })
		}
	}

	#values(given: WriteBody, context: CheckContext): WrittenValues {
		const { plan, kind, body, scope } = given
		const values: WrittenValues = {}
		for (const [name, field] of writableOf(given)) {
			if (scope.fixed.has(field.field.name)) continue
			const isGiven = Object.hasOwn(body, name)
			if (!isGiven && (kind === 'update' || (kind === 'replace' && !plan.visible.has(name)))) continue
			const before = context.problems.length
			const value = this.#value(given, field, isGiven ? body[name] : undefined, context)
			if (context.problems.length > before) nest(context.problems, before, name)
			else if (value !== undefined) values[name] = value
		}
		return values
	}

	/** The value to write; `undefined` if there is none, or a problem was noted. */
	#value(
		{ kind, plan, isExact = false }: WriteBody,
		{ name, field: column }: CrudField,
		sent: unknown,
		context: CheckContext,
	): WrittenValues[string] | undefined {
		const { problems } = context
		const { rules, field } = this.#rules.get(name) ?? { rules: undefined, field: column }
		// Forms send an empty text for an empty input.
		const isEmpty =
			context.coerce && sent === '' && !isExact && field.type !== 'text' && field.type !== 'other'
		const given = isEmpty ? unfilled(field, rules) : sent
		// Null is allowed where the column allows it, unless a rule refuses it.
		const isNull = given === null && field.nullable && rules?.schema === undefined && rules?.required !== true
		const before = problems.length
		const value = rules === undefined || isNull ? given : checkPlan(context, rules, given)
		if (problems.length > before || context.results.isCollecting) return undefined
		if (value === undefined) return absent(kind, field, problems)
		if (value === null) return field.nullable ? null : note(problems, 'required', 'must not be null')
		if (value === '' && isEmpty && field.nullable) return null
		const isText = context.coerce && typeof value === 'string'
		const stored = isText ? storedFromText(field, value, problems) : valueFromJson(field, value, problems)
		// With a key that isn't a valid id, the record would have no URL.
		const read = stored === undefined ? undefined : plan.keyReaders.get(name)
		if (read === undefined || read(idText(value)) !== undefined) return stored
		return note(problems, 'id', 'must be a valid id: not empty, neither . nor .., without control characters')
	}
}

/** What an empty input of a form stands for: null, or nothing if there is a default or the column can't be null. */
function unfilled({ nullable }: Field, rules: Plan | undefined): '' | null | undefined {
	if (rules?.schema !== undefined || rules?.validator !== undefined) return ''
	if (nullable && rules?.fallback === undefined) return null
	return rules === undefined ? '' : undefined
}

function writableOf({ kind, plan }: WriteBody): FieldMap {
	return kind === 'create' ? plan.creatable : plan.updatable
}

/** A key as in a URL. Not `String(value)` for objects: JSON can contain a `toString` that isn't a function. */
function idText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** A field that a replacement leaves out gets its default, or null. */
function absent(
	kind: WriteKind,
	{ hasDefault, nullable }: Field,
	problems: Detail[],
): typeof DEFAULT | null | undefined {
	if (!hasDefault && !nullable) return note(problems, 'required', 'is required')
	if (kind !== 'replace') return undefined
	return hasDefault ? DEFAULT : null
}
