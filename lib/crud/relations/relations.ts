/**
 * Resolves the option `relations`: finds the other handler, and, from the models' foreign keys, the fields that link its records
 * with these. Done when the handler is mounted, because two handlers may refer to each other.
 */
import { nearest } from '../../base/options.ts'
import { HandlerHooks } from '../../handler/handler.ts'
import { isSameFields, keyNames } from '../../models/key.ts'
import type { Field, Link, Model, Reference } from '../../models/model.ts'
import type { CrudPlan, Relation, Relations } from '../plan.ts'
import type { ReadRelation } from '../read-options.ts'
import { checkSession } from '../session.ts'
import { type CrudFacts, FACTS } from '../view.ts'

/**
 * Resolves the relations of a plan.
 *
 * @throws TypeError for a relation that could mean no foreign key, or several, with the choices
 * @throws RangeError for a `limit` above `maxLimit`
 */
export function resolvedRelations(
	plan: CrudPlan,
	declared: Readonly<Record<string, ReadRelation>>,
): Relations {
	const entries = Object.entries(declared).map(([name, given]): [string, Relation] => {
		const place = `${plan.owner}: relations.${name}`
		return [name, resolved(place, plan, name, given)]
	})
	return new Map(entries)
}

function resolved(place: string, plan: CrudPlan, name: string, given: ReadRelation): Relation {
	const handler: unknown = typeof given.to === 'function' ? targetOf(place, given.to) : given.to
	const facts = factsOf(place, handler)
	if ((handler as HandlerHooks).before !== HandlerHooks.prototype.before)
		throw new TypeError(
			`${place}: ${facts.plan.owner}.before() would not be called for related records: decide in access, scope() or the operations who sees them`,
		)
	const { plan: to, isStripped } = facts
	const found = linkOf(place, plan, to, given)
	const { isMany, through } = found
	const maxLimit = given.maxLimit ?? Math.max(to.maxLimit, given.limit ?? 0)
	const limit = given.limit ?? Math.min(to.limit, maxLimit)
	if (limit > maxLimit)
		throw new RangeError(`${place}: limit ${limit} is more than maxLimit ${maxLimit}: raise maxLimit`)
	if (!isMany && (given.limit ?? given.maxLimit) !== undefined)
		throw new TypeError(`${place}: limit and maxLimit are for relations to many records, this one is to one`)
	const [canTie, canCreate] = [given.writable.includes('tie'), given.writable.includes('create')]
	if (canTie) checkTieable(place, found)
	if (canCreate) checkCreatable(place, plan, to, found)
	if (canTie && through !== undefined && (plan.sessionBy ?? to.sessionBy) !== undefined)
		checkSession(place, through)
	const operation = isMany ? 'list' : 'read'
	const isOverridden = facts.overridden.has(operation)
	const joins = (model: Model) => plan.model.joins?.(model) === true
	const link: { relation?: Relation } & Link = { ...found.link }
	const refersBack = through !== undefined || link.isMany || link.refersBack === true
	const relation: Relation = {
		...{ name, handler: handler as object, to, operation, limit, maxLimit },
		comparing: refersBack && joins(through ?? to.model) ? plan.model : undefined,
		link: link as Relation['link'], // completed below
		...{ canTie, canCreate },
		...{ isOverridden, isStripped },
		isJoined:
			!isOverridden &&
			(plan.sessionBy === undefined) === (to.sessionBy === undefined) &&
			joins(to.model) &&
			(through === undefined || joins(through)),
	}
	link.relation = relation
	return relation
}

/** @throws TypeError unless junction records can be created, from nothing but the keys of the records that they tie */
function checkTieable(place: string, { link: { through } }: Found): void {
	const where = `${place}: writable: tie`
	if (through?.model.readOnly !== false)
		throw new TypeError(`${where} is for many to many, through a model that can be written`)
	const { model, from, on } = through
	const missing = missingInTies(model, [...from, ...on])
	if (missing !== undefined)
		throw new TypeError(
			`${where}: no ${model.name} could be made without ${missing}: give its column a default`,
		)
}

/** The name of a field that keeps junction records from being created with these fields alone. */
export function missingInTies({ fields }: Model, given: readonly string[]): string | undefined {
	return fields.find(
		({ name, nullable, hasDefault, generated }) =>
			!(nullable || hasDefault || generated || given.includes(name)),
	)?.name
}

/** @throws TypeError unless records of both handlers can be created together */
function checkCreatable(place: string, plan: CrudPlan, to: CrudPlan, { isMany, through }: Found): void {
	const where = `${place}: writable: create`
	if (!isMany || through !== undefined)
		throw new TypeError(`${where} is for relations to many records with the foreign key in them`)
	if (!to.allow.has('create') || !plan.allow.has('create'))
		throw new TypeError(`${where} needs create in allow of both ${plan.owner} and ${to.owner}`)
	if ((plan.sessionBy === undefined) !== (to.sessionBy === undefined))
		throw new TypeError(
			`${where}: only one of ${plan.owner} and ${to.owner} has session(), so they can't create records in one transaction`,
		)
	if (plan.model !== to.model && plan.model.transactsWith?.(to.model) !== true)
		throw new TypeError(
			`${where}: ${plan.model.name} and ${to.model.name} must be in one database, with the same pool`,
		)
}

function targetOf(place: string, to: () => unknown): unknown {
	if (/^class\b/.test(Function.prototype.toString.call(to)))
		throw new TypeError(`${place}: to must be a CrudHandler, not its class`)
	return to()
}

function factsOf(place: string, handler: unknown): CrudFacts {
	if (typeof handler === 'object' && handler !== null && FACTS in handler) return handler[FACTS] as CrudFacts
	throw new TypeError(`${place}: to must be a CrudHandler, or a function that returns one`)
}

interface Found {
	readonly link: Link
	readonly isMany: boolean
	readonly through: Model | undefined
}

function linkOf(place: string, plan: CrudPlan, to: CrudPlan, given: ReadRelation): Found {
	const { through } = given
	if (through !== undefined)
		return { link: linkThrough(place, plan, to, given, through), isMany: true, through }
	const link = directLink(place, plan, to, given)
	return { link, isMany: link.isMany, through: undefined }
}

/** A foreign key that a relation may mean: `isOwn` if it is in these records, not in the other ones. */
interface Candidate extends Reference {
	readonly isOwn: boolean
}

function directLink(place: string, plan: CrudPlan, to: CrudPlan, given: ReadRelation): Link {
	const [own, other] = [plan.model, to.model]
	const wantsMany = given.many ?? (given.limit ?? given.maxLimit) !== undefined
	const toOne = wantsMany ? [] : foreignKeys(own, other, true)
	// In a tree, the same foreign key leads to the parent and to the children.
	const isTree = own === other && !wantsMany
	const isOne = given.many === false && toOne.length > 0
	const candidates = isTree || isOne ? toOne : [...toOne, ...foreignKeys(other, own, false)]
	const names = given.by?.map((name) => columnsNamed(plan, to, name))
	const meant = names === undefined ? candidates : candidates.filter((one) => isBy(one, names))
	const [found] = meant
	if (found === undefined && names !== undefined) return namedLink(place, plan, to, given, names)
	if (found === undefined)
		throw new TypeError(
			`${place}: there is no foreign key between ${own.name} and ${other.name}: name its fields with by`,
		)
	if (meant.length > 1)
		throw new TypeError(
			`${place} could mean ${meant.map((one) => described(one, own, other)).join(' or ')}: choose with by${
				names === undefined ? '' : ', or many'
			}`,
		)
	return found.isOwn
		? { model: other, fields: found.fields, to: found.to, isMany: false }
		: {
				...{ model: other, fields: found.to, to: found.fields },
				...{ isMany: given.many !== false, refersBack: true },
			}
}

function foreignKeys(from: Model, to: Model, isOwn: boolean): Candidate[] {
	return (from.references?.(to) ?? []).map((reference) => ({ ...reference, isOwn }))
}

function described({ fields, isOwn }: Candidate, own: Model, other: Model): string {
	const names = fields.join(', ')
	return isOwn ? `${own.name}.${names} (one record)` : `${other.name}.${names} (many records)`
}

/** A name for clients as a column of these records, and of the other ones. */
interface NamedColumns {
	readonly name: string
	readonly own: Field | undefined
	readonly other: Field | undefined
}

function columnsNamed(plan: CrudPlan, to: CrudPlan, name: string): NamedColumns {
	return { name, own: plan.fields.get(name)?.field, other: to.fields.get(name)?.field }
}

function isBy({ fields, isOwn }: Candidate, names: readonly NamedColumns[]): boolean {
	return (
		fields.length === names.length &&
		names.every(({ own, other }) => fields.includes((isOwn ? own : other)?.name ?? ''))
	)
}

/** The link by fields that aren't a foreign key, to the key of the other side. */
function namedLink(
	place: string,
	plan: CrudPlan,
	to: CrudPlan,
	{ many }: ReadRelation,
	names: readonly NamedColumns[],
): Link {
	const own =
		many === true
			? undefined
			: keyedBy(
					names.map((one) => one.own),
					to,
				)
	const other =
		many === false
			? undefined
			: keyedBy(
					names.map((one) => one.other),
					plan,
				)
	if (own !== undefined && other !== undefined)
		throw new TypeError(`${place}: both models have the fields of by: say with many which of them are meant`)
	const model = to.model
	if (own !== undefined) return { model, fields: own.fields, to: own.key, isMany: false }
	if (other !== undefined) return { model, fields: other.key, to: other.fields, isMany: true }
	const [unknown] = names.filter(({ own, other }) => own === undefined && other === undefined)
	if (unknown === undefined)
		throw new TypeError(
			`${place}: the fields of by don't fit the key of ${to.model.name} or ${plan.model.name}, in number, type or collation`,
		)
	const all = [...plan.fields.keys(), ...to.fields.keys()]
	throw new TypeError(`${place}: by: there is no field ${unknown.name}${nearest(unknown.name, all)}`)
}

function keyedBy(
	fields: readonly (Field | undefined)[],
	{ keys, model }: CrudPlan,
): { readonly fields: readonly string[]; readonly key: readonly string[] } | undefined {
	if (fields.length !== keys.length || keys.length === 0) return undefined
	if (!fields.every((field, at) => field !== undefined && isComparable(field, keys[at]?.field)))
		return undefined
	return { fields: fields.flatMap((field) => field?.name ?? []), key: keyNames(model) }
}

/** Whether all agree on which values are equal. */
function isComparable(own: Field, other: Field | undefined): boolean {
	const [a, b] = [own, other].map((field) => (field?.type === 'bigint' ? 'integer' : field?.type))
	return a === b && own.wholeOnly === other?.wholeOnly
}

function linkThrough(
	place: string,
	plan: CrudPlan,
	to: CrudPlan,
	{ by }: ReadRelation,
	through: Model,
): Link {
	const [own, other] = [plan.model, to.model]
	if (other.joins?.(through) !== true)
		throw new TypeError(
			`${place}: ${through.name} and ${other.name} must be of one database, because their records are joined`,
		)
	const toOwn = through.references?.(own) ?? []
	const isBetween = ({ fields }: Reference) => by === undefined || isSameFields(fields, by)
	const first = only(place, toOwn.filter(isBetween), through, own)
	const toOther = (through.references?.(other) ?? []).filter(
		({ fields }) => !isSameFields(fields, first.fields),
	)
	const second = only(place, toOther, through, other)
	return {
		...{ model: other, fields: first.to, to: second.to, isMany: true },
		through: { model: through, from: first.fields, on: second.fields },
	}
}

function only(place: string, references: readonly Reference[], through: Model, model: Model): Reference {
	const [reference, another] = references
	if (reference !== undefined && another === undefined) return reference
	const names = references.map(({ fields }) => fields.join(', '))
	throw new TypeError(
		names.length === 0
			? `${place}: ${through.name} has no such foreign key to ${model.name}`
			: `${place}: ${through.name} refers to ${model.name} by ${names.join(' and by ')}: choose with by the one to these records`,
	)
}
