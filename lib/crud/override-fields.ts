/** What a subclass of `CrudHandler` may not declare as a field. Called by the mount, through `crud-handler.ts`. */
import { type CrudOperation, OPERATIONS } from './options.ts'

/** The methods of a `CrudHandler` that a subclass overrides as methods. */
export type Overridable = Overridden | 'scope' | 'fields' | 'session' | 'stripObject'

/** The operations with a method. An export calls `list()`, an import `create()` or `createMany()`. */
type Overridden = Exclude<CrudOperation, 'export' | 'import'>

export const METHODS: readonly Overridden[] = OPERATIONS.filter(
	(name): name is Overridden => name !== 'export' && name !== 'import',
)

const OVERRIDABLE: readonly Overridable[] = [...METHODS, 'scope', 'fields', 'session', 'stripObject']

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
