/** `Shape`: what one action takes and answers, as far as it was declared. Read by the OpenAPI description and the explorer. */
import type { JsonSchema } from './json-schema.ts'

/** A value with a name: of the URL's path, or of its query. */
export interface ParameterShape {
	readonly name: string
	readonly schema: JsonSchema
	readonly required: boolean
	readonly description?: string
	/** Of a list's query: what it is for. `filter` are conditions on a field, `title` or `title[contains]`. */
	readonly role?: 'page' | 'sort' | 'fields' | 'search' | 'filter' | undefined
	/**
	 * How a query says more than one text: the parameter `repeated`, each time with one value of `schema`; the items of
	 * its array `joined` by commas; as `json`; or the plain value, and each property of an object of `operators` as
	 * `name[operator]`. Where nothing is said, an array is a parameter for each item.
	 */
	readonly written?: 'repeated' | 'joined' | 'json' | 'operators' | undefined
}

export interface BodyShape {
	readonly schema: JsonSchema
	readonly required: boolean
	/** Media types that are read. */
	readonly types: readonly string[]
}

/** A success. `schema` is of the value, which is `data` in the envelope. */
export interface AnswerShape {
	readonly status: number
	readonly schema: JsonSchema
	/** The media type of bytes or a text, of which there is no schema. @default JSON, in the envelope or bare */
	readonly type?: string | undefined
	/** Whether `meta` with the facts of a page stands beside the value. */
	readonly isPage: boolean
	/** Of a list of records: the field by whose value the URL of each is made. */
	readonly key?: string | undefined
	/** Names of headers that it may have: `ETag`, `Link`, `Location`, `X-Total-Count`. */
	readonly headers: readonly string[]
	/** Whether somebody's own code makes it, so that it may have another status of success. */
	readonly isOpen?: boolean | undefined
}

export interface Shape {
	/** What the action does, in a few words; empty where nothing is known. */
	readonly summary: string
	/** Schemas of the path's params, in their order, where more is known of them than their type. */
	readonly params: readonly JsonSchema[]
	readonly query: readonly ParameterShape[]
	/** `undefined` where none is read, or nothing is known of it. */
	readonly body: BodyShape | undefined
	readonly answer: AnswerShape
	/** Names of the request's headers that mean something: `If-Match`. */
	readonly headers: readonly string[]
	/** Statuses of refusals that are the action's own, beside those that any may have: 404, 409, 412, 422. */
	readonly refusals: readonly number[]
}
