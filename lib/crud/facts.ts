/** Makes `CrudFacts`, when a `CrudHandler` is constructed: its plan, and what its subclass overrides. Requests only read them. */
import type { Model } from '../models/model.ts'
import { auditOf } from './audit.ts'
import { defaultQuery } from './list-query.ts'
import { checkUpsert } from './many/upsert-option.ts'
import { type CrudOperation, type CrudOptions, OPERATIONS } from './options.ts'
import { crudPlan, refuseImpossibleCreate } from './plan.ts'
import { READERS } from './read-options.ts'
import { checkNaming } from './record-id.ts'
import { NO_INCLUDE } from './relations/parse-include.ts'
import { resolvedRelations } from './relations/relations.ts'
import { scopeOfDeleted } from './scope.ts'
import { checkSession } from './session.ts'
import { type CrudFacts, stateOf } from './view.ts'

/** The methods that a subclass may override, but not by fields: see `refuseFields`. */
export type Overridable = Overridden | 'scope' | 'fields' | 'session' | 'stripObject'

/** The operations with a method. An export calls `list()`, an import `create()` or `createMany()`. */
type Overridden = Exclude<CrudOperation, 'export' | 'import'>

const METHODS: readonly Overridden[] = OPERATIONS.filter(
	(name): name is Overridden => name !== 'export' && name !== 'import',
)

const OVERRIDABLE: readonly Overridable[] = [...METHODS, 'scope', 'fields', 'session', 'stripObject']

/**
 * @param owner the class's name
 * @param isOverridden whether the class overrides a method of `CrudHandler`
 * @throws TypeError as the constructor of `CrudHandler`
 */
export function crudFacts(
	handler: object,
	owner: string,
	model: Model,
	options: CrudOptions,
	isOverridden: (name: Overridable) => boolean,
): CrudFacts {
	const sessionBy = isOverridden('session') ? handler : undefined
	refuseMembers(owner, handler, options)
	const plan = crudPlan(owner, model, options, resolvedRelations, {
		sessionBy,
		makesKeys: isOverridden('create'),
	})
	if (sessionBy !== undefined) checkSession(plan.owner, model)
	const overridden = new Set<CrudOperation>(METHODS.filter(isOverridden))
	const isScoped = isOverridden('scope')
	const isStripped = isOverridden('stripObject')
	if (!isScoped && !overridden.has('create')) refuseImpossibleCreate(plan)
	checkUpsert(plan, isScoped, overridden)
	checkNaming(plan, isScoped)
	const state = Object.freeze(stateOf({ selection: plan.selections.all, include: NO_INCLUDE }))
	return {
		...{ handler, plan, isScoped, isStripped, overridden, rules: options.rules ?? {}, state },
		...{ isNarrowed: isOverridden('fields'), narrowed: new Map() },
		living: scopeOfDeleted(plan, false),
		audit: auditOf(plan, options.audit),
		defaultQuery: defaultQuery(plan),
		paths: [],
		isPlainRead: plan.version === undefined && !isStripped && !overridden.has('read'),
	}
}

/** @throws TypeError for an option that is a member of the class, such as `access` */
function refuseMembers(owner: string, handler: object, options: unknown): void {
	if (typeof options !== 'object' || options === null) return
	const member = Object.keys(options).find(
		(name) => name in handler && !(name in Object.prototype) && !Object.hasOwn(READERS, name),
	)
	if (member !== undefined)
		throw new TypeError(
			`${owner} has no option ${member}: it is a member of the class, class Own extends CrudHandler { override ${member} … }`,
		)
}

/**
 * Refuses operations that are declared as fields. Fields are assigned after the constructor has looked for overrides,
 * and the `this` of a function in a field is the shared handler.
 *
 * @throws TypeError
 */
export function refuseFields(handler: object): void {
	for (const name of OVERRIDABLE) {
		if (Object.hasOwn(handler, name))
			throw new TypeError(
				`${handler.constructor.name}.${name} is a field, whose \`this\` would be the shared handler and not the request's view: write a method, ${name}(…) { … }`,
			)
	}
}
