/**
 * What the explorer's pages need to show the records of a handler: the field that names a record, the parameter that finds
 * records by a typed text, and the fields that lead to related records. Used by `explorer/`; made once for each handler.
 */
import { attached } from '../../base/attached.ts'
import { isSameFields, keyNames } from '../../models/key.ts'
import type { CrudField } from '../fields.ts'
import { operatorsOf } from '../filter-comparison.ts'
import type { CrudOperation } from '../options.ts'
import type { CrudPlan, Relation } from '../plan.ts'
import { shownKey, usableRelations } from '../record-schema.ts'
import { type CrudFacts, type CrudView, FACTS } from '../view.ts'
import type { Use } from './access.ts'

/** The records of a handler, as pages show them. */
export interface ShownRecords {
	/** The fields that identify a record in a URL; `undefined` if clients don't see them. */
	readonly key: readonly string[] | undefined
	/** The field with the name of a record; `undefined` if no visible field is a text. */
	readonly label: string | undefined
	/** The list's parameter that finds records by a text: `search`, `name[icontains]`. */
	readonly finder: string | undefined
	readonly relations: readonly ShownRelation[]
}

export interface ShownRelation {
	readonly relation: Relation
	/**
	 * For a relation to one record: the fields with its key, each with the other record's field. Empty if clients don't see
	 * them, or if the key is in the other record.
	 */
	readonly by: readonly (readonly [own: string, other: string])[]
}

/** What a caller must be allowed to do in order to export a handler's records; `undefined` if nobody can. */
export function exportUse(handler: object): Use | undefined {
	const plan = factsOf(handler)?.plan
	if (plan?.allow.has('export') !== true) return undefined
	const { access } = handler as { readonly access?: object } // a RestHandler
	const isOwn = access !== undefined && Object.hasOwn(access, 'export')
	return { handler, to: plan, operation: isOwn ? 'export' : 'list' }
}

const SHOWN: unique symbol = Symbol('verbena.shownRecords')

/** `undefined` for a handler that isn't a `CrudHandler`. */
export function shownRecords(handler: object): ShownRecords | undefined {
	const facts = factsOf(handler)
	return facts && attached(facts, SHOWN, () => shownOf(facts))
}

function factsOf(handler: object): CrudFacts | undefined {
	return FACTS in handler ? (handler as CrudView)[FACTS] : undefined // only a CrudHandler has the symbol
}

function shownOf(facts: CrudFacts): ShownRecords {
	const { plan } = facts
	const label = labelOf(plan)
	const relations = usableRelations(plan).map((relation) => ({ relation, by: keyFields(plan, relation) }))
	return { key: shownKey(facts), label: label?.name, finder: finderOf(plan, label), relations }
}

const NAMES = ['name', 'title', 'label']

/** The text called `name`, `title` or `label`, else one whose name ends in that, `displayName`, else the first text. */
function labelOf({ visible, keys }: CrudPlan): CrudField | undefined {
	const texts = [...visible.values()].filter(
		(one) => one.field.type === 'text' && one.field.choices === undefined && !keys.includes(one),
	)
	const exact = NAMES.map((name) => texts.find((one) => one.name.toLowerCase() === name))
	return exact.find((one) => one !== undefined) ?? texts.find(({ name }) => IS_NAME.test(name)) ?? texts[0]
}

const IS_NAME = /(?:name|title|label)$/i

function finderOf(
	{ searchable, filterable, ignoreQuery }: CrudPlan,
	label: CrudField | undefined,
): string | undefined {
	const search = searchable.size > 0 && !ignoreQuery.has('search') ? 'search' : undefined
	const isSearchable = label !== undefined && searchable.has(label.name)
	// A search of several fields would fill the first page with records whose names don't have the text.
	if (label === undefined || (isSearchable && searchable.size === 1) || !filterable.has(label.name))
		return search
	return operatorsOf(label.field).includes('icontains') ? `${label.name}[icontains]` : search
}

function keyFields(plan: CrudPlan, { link, to }: Relation): [string, string][] {
	if (link.isMany) return []
	const isKey = isSameFields(link.to, keyNames(to.model))
	// The other record refers to this one.
	if (!isKey && isSameFields(link.fields, keyNames(plan.model))) return []
	const pairs = link.fields.map((column, at) => [
		fieldOf(plan, column),
		fieldOf(to, link.to[at] ?? '', to.visible),
	])
	return pairs.every(([own, other]) => own !== undefined && other !== undefined)
		? pairs.map(([own = '', other = '']) => [own, other])
		: []
}

/** The name of a column for clients, who see it or, in `plan`, may write it. */
function fieldOf(plan: CrudPlan, column: string, visible?: CrudPlan['visible']): string | undefined {
	const known = visible === undefined ? [plan.visible, plan.creatable, plan.updatable] : [visible]
	for (const fields of known)
		for (const { name, field } of fields.values()) if (field.name === column) return name
	return undefined
}

/** The foreign key in the related records of one record: its fields are the same in all of them. */
export function fieldsBack({ link, to }: Relation): string[] {
	if (!link.isMany || link.through !== undefined) return []
	return link.to.flatMap((column) => fieldOf(to, column, to.visible) ?? [])
}

/** What the other handler must allow for an action on related records, by the action's first word. */
const OPERATIONS: Readonly<Record<string, CrudOperation>> = {
	...{ list: 'list', read: 'read', create: 'create', tie: 'read', untie: 'read' },
}

/** The other handler's operation that an action on related records needs, `list comments`; `undefined` for other actions. */
export function relatedUse(handler: object, action: string): (Use & { relation: Relation }) | undefined {
	const [verb = '', name, ...more] = action.split(' ')
	const relation = name === undefined ? undefined : factsOf(handler)?.plan.relations.get(name)
	const operation = OPERATIONS[verb]
	if (relation === undefined || operation === undefined || more.length > 0) return undefined
	return { handler: relation.handler, to: relation.to, operation, relation }
}
