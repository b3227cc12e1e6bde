/** Bodies of writes: what a client has sent, checked by the columns and the rules, as values for the model. */

import { entriesOf, nearest } from '../base/options.ts'
import { type Changes, DEFAULT, type Value } from '../models/model.ts'
import { checkPlan, type Walk } from '../validate/check.ts'
import type { Plan } from '../validate/plan.ts'
import { invalid, MAX_PROBLEMS, nest, note } from '../validate/problem.ts'
import { type Answers, directAnswers, Questions } from '../validate/standard-schema.ts'
import { compileSpec } from '../validate/validate.ts'
import type { Spec, Validator } from '../validate/validator.ts'
import type { Detail } from '../wire/codes.ts'
import { shown } from './bad-query.ts'
import type { CrudField, FieldMap } from './fields.ts'
import type { CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { Scope } from './scope.ts'
import { storedFromText, valueFromJson } from './value-from-json.ts'

export type WriteKind = 'create' | 'update' | 'replace'

/** A body, and what is known of the request that it came with. */
export interface WriteBody {
	readonly body: Readonly<Record<string, unknown>>
	/** Whether values are text, as a form's are. */
	readonly isText: boolean
	readonly scope: Scope
	/** The id of the URL; `undefined` for a new record. */
	readonly id: string | undefined
}

/** What is to be written, by the names of clients. */
export type WrittenValues = Record<string, Value | typeof DEFAULT>

/** Checked values by the names of the model. */
export function checkedChanges({ fields }: CrudPlan, checked: WrittenValues): Changes {
	const changes: WrittenValues = {}
	for (const name of Object.keys(checked)) {
		const value = checked[name]
		const field = fields.get(name)
		if (field !== undefined && value !== undefined) changes[field.field.name] = value
	}
	return changes
}

/** Reads bodies by the rules of one mounted handler. */
export class Writer {
	readonly #plan: CrudPlan
	readonly #rules: ReadonlyMap<string, Plan>
	/** Whether somebody else's schema is asked, which may answer a promise. */
	readonly #asks: boolean

	/**
	 * @param validator the server's, for lists of rules; `undefined` for ours
	 * @throws TypeError for rules of a field that there isn't, and rules that are wrong
	 */
	constructor(plan: CrudPlan, rules: CrudRules, validator: Validator | undefined) {
		this.#plan = plan
		this.#rules = new Map(
			entriesOf(`${plan.owner}: rules`, rules, "{ title: ['required', 'string'] }").map(([name, own]) => [
				name,
				rulesOf(plan, name, own, validator),
			]),
		)
		this.#asks = [...this.#rules.values()].some(({ schema }) => schema !== undefined)
	}

	/**
	 * The values of a body. Only those of fields that may be written; visible fields beside them are passed over,
	 * so that a record that was read can be sent back.
	 *
	 * @throws RestError `invalid` with all problems at once
	 */
	async read(kind: WriteKind, given: WriteBody): Promise<WrittenValues> {
		if (!this.#asks) return this.#walk(kind, given, directAnswers)
		const questions = new Questions()
		this.#collect(kind, given, questions)
		return this.#walk(kind, given, await questions.answered())
	}

	/** Puts the schemas' questions; what else is wrong is found when their answers are there. */
	#collect(kind: WriteKind, given: WriteBody, questions: Questions): void {
		const walk: Walk = { coerce: given.isText, problems: [], answers: questions }
		try {
			this.#fields(kind, given, walk)
		} catch (error) {
			questions.drop()
			throw error
		}
	}

	#walk(kind: WriteKind, given: WriteBody, answers: Answers): WrittenValues {
		const walk: Walk = { coerce: given.isText, problems: [], answers }
		this.#strangers(kind, given, walk.problems)
		const values = this.#fields(kind, given, walk)
		if (walk.problems.length > 0) throw invalid(walk.problems)
		return values
	}

	/** Notes the names that mean nothing here, and an id that isn't the URL's. */
	#strangers(kind: WriteKind, { body, scope, id }: WriteBody, problems: Detail[]): void {
		const { key, visible, idOf } = this.#plan
		const writable = this.#writable(kind)
		const fixed = scope.fixed
		for (const name of Object.keys(body)) {
			if (problems.length >= MAX_PROBLEMS) return
			const field = writable.get(name)
			if (field !== undefined && !fixed.has(field.field.name)) continue
			// A hidden field is answered like one that there isn't: nobody finds out which it is.
			if (!visible.has(name)) {
				problems.push({ field: shown(name), code: 'unknown', message: 'is no field that can be written' })
			} else if (name === key.name && id !== undefined && idOf(idText(body[name])) !== id) {
				problems.push({ field: name, code: 'id', message: 'must be the one of the URL: it never changes' })
			}
		}
	}

	#writable(kind: WriteKind): FieldMap {
		return kind === 'create' ? this.#plan.creatable : this.#plan.updatable
	}

	#fields(kind: WriteKind, given: WriteBody, walk: Walk): WrittenValues {
		const fixed = given.scope.fixed
		const values: WrittenValues = {}
		for (const [name, field] of this.#writable(kind)) {
			if (fixed.has(field.field.name)) continue
			const isGiven = Object.hasOwn(given.body, name)
			if (!isGiven && (kind === 'update' || (kind === 'replace' && !this.#plan.visible.has(name)))) continue
			const before = walk.problems.length
			const value = this.#value(kind, field, isGiven ? given.body[name] : undefined, walk)
			if (walk.problems.length > before) nest(walk.problems, before, name)
			else if (value !== undefined) values[name] = value
		}
		return values
	}

	/** `undefined` for nothing to write, or a problem that was noted. */
	#value(
		kind: WriteKind,
		{ name, field }: CrudField,
		given: unknown,
		walk: Walk,
	): WrittenValues[string] | undefined {
		const { problems } = walk
		const rules = this.#rules.get(name)
		// A column that can be null is: a rule must say that it may not.
		const isFree = given === null && field.nullable && rules?.schema === undefined && rules?.required !== true
		const before = problems.length
		const value = rules === undefined || isFree ? given : checkPlan(walk, rules, given)
		if (problems.length > before || walk.answers.collecting) return undefined
		if (value === undefined) return absent(kind, { name, field }, problems)
		if (value === null) return field.nullable ? null : note(problems, 'required', 'must not be null')
		const isKey = name === this.#plan.key.name
		// Else there would be a record that no URL leads to.
		if (isKey && this.#plan.idOf(idText(value)) === undefined)
			return note(problems, 'id', 'must be what an id of this kind can be')
		if (!walk.coerce || typeof value !== 'string') return valueFromJson(field, value, problems)
		// A form sends an empty text for what was left empty.
		if (value === '' && field.type !== 'text' && field.type !== 'other' && field.nullable) return null
		return storedFromText(field, value, problems)
	}
}

/** A key as a URL would have it. What JSON can make of `toString` is not called. */
function idText(value: unknown): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** A replaced record has for each field what it was given, its default, or null. */
function absent(
	kind: WriteKind,
	{ field }: CrudField,
	problems: Detail[],
): typeof DEFAULT | null | undefined {
	if (field.hasDefault) return kind === 'replace' ? DEFAULT : undefined
	if (field.nullable) return kind === 'replace' ? null : undefined
	return note(problems, 'required', 'is required')
}

function rulesOf(
	{ owner, fields }: CrudPlan,
	name: string,
	rules: unknown,
	validator: Validator | undefined,
): Plan {
	if (!fields.has(name))
		throw new TypeError(`${owner}: rules: there is no column ${name}${nearest(name, fields.keys())}`)
	try {
		// compileSpec checks all of it.
		const [field] = compileSpec({ [name]: rules } as Spec, validator).plan.fields ?? []
		if (field !== undefined) return field.plan
	} catch (cause) {
		throw new TypeError(`${owner}: rules: ${cause instanceof Error ? cause.message : String(cause)}`, {
			cause,
		})
	}
	throw new TypeError(`${owner}: rules: ${name} must be a list of rules or a Standard Schema`)
}
