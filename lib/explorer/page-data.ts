/** The data of a page: the server writes it into the document, and the page's script reads it. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'

export interface PageData {
	/** Path and query as the client sent them, path-absolute. */
	readonly url: string
	/** From the root to this page. */
	readonly crumbs: readonly Crumb[]
	/** The caller's id; `undefined` for anonymous callers. */
	readonly user: string | undefined
	/** `undefined` on a page that only shows the map. */
	readonly answer: AnswerData | undefined
	/** What can be done at this path. */
	readonly operations: readonly OperationData[]
	/** The path of each record of a list: `/blog/articles/{id}`, `id` being a field of the record. */
	readonly recordPath: string | undefined
	readonly map: MapData | undefined
	/** Handler paths whose URLs become links. */
	readonly roots: readonly string[]
}

export interface Crumb {
	readonly text: string
	/** `undefined` where there is no page. */
	readonly url: string | undefined
}

export interface AnswerData {
	readonly status: number
	readonly reason: string
	readonly headers: readonly (readonly [name: string, value: string])[]
	readonly body: string
	/** Why the body isn't shown as a whole; `undefined` where it is. */
	readonly note: string | undefined
}

export interface OperationData {
	readonly method: string
	/** What it does, else the name of the handler's method; empty for a `_default` one. */
	readonly summary: string
	/** Whether the caller may use it. If not, the other fields are empty. */
	readonly isAllowed: boolean
	readonly query: readonly ParameterShape[]
	/** Schema of the body; `undefined` where it isn't known. */
	readonly body: JsonSchema | undefined
	/** Whether it reads its body as a stream, mostly of files. */
	readonly isStreaming: boolean
	/** Whether it answers pages of a list. */
	readonly isPage: boolean
}

export interface MapData {
	readonly handlers: readonly MapHandler[]
	/** Whether there is more that this caller may not use. */
	readonly hasMore: boolean
}

export interface MapHandler {
	/** Its path without the version: `blog/articles`. Handlers of one name are versions of each other. */
	readonly name: string
	/** `v2`; `undefined` where the path has none. */
	readonly version: string | undefined
	readonly routes: readonly MapRoute[]
}

export interface MapRoute {
	/** With its params in braces: `/blog/articles/{id}`. */
	readonly path: string
	readonly operations: readonly { readonly method: string; readonly summary: string }[]
}
