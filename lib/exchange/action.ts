/** An action: one method of a handler that a request can lead to, with all that was declared about it. */

import type { Bytes, Milliseconds } from '../base/time.ts'
import type { CompiledLimit } from '../limits/rate-limit.ts'
import type { CompiledSpec, SpecMemo } from '../validate/validate.ts'
import type { MethodDocs } from './declarations.ts'

/** Who may call: nobody needs to be known, somebody must be, or somebody who may use all the resources. */
export interface AccessRule {
	readonly user: boolean
	readonly resources: readonly string[]
}

/** Limits of a method that reads its body itself. */
export interface StreamingLimits {
	/** Most bytes the client may send. @default Infinity */
	readonly maxBody: Bytes
	/** From the call of the method to the first byte of the answer. @default 600_000 */
	readonly handlerTimeout: Milliseconds
}

/** What is called for a request, with everything known at mount. */
export interface Action {
	/** The method's name, as the user typed it. */
	readonly name: string
	/** The method itself; called with the view as `this`. */
	readonly run: (this: object, ...params: unknown[]) => unknown
	/** Most path segments it is given; `Infinity` for a method that takes any number. */
	readonly maxParams: number
	readonly access: AccessRule
	/** How many requests one caller may send; `undefined` for any number. */
	readonly limit: CompiledLimit | undefined
	/** Set when the method is named in `streaming`. */
	readonly streaming: StreamingLimits | undefined
	/** What `getParams()` without argument checks. */
	readonly spec: CompiledSpec | undefined
	/** What was told of it to people; nothing that a request needs. */
	readonly docs: MethodDocs | undefined
	/** Specs that the method has passed to `getParams` before. */
	readonly memo: SpecMemo
}
