/** `Shape`: the declared parameters, body and responses of one action, for the OpenAPI description and the explorer. */
import type { JsonSchema } from './json-schema.ts'

/** A parameter of the path or the query. */
export interface ParameterShape {
	readonly name: string
	readonly schema: JsonSchema
	readonly required: boolean
	readonly description?: string
	/**
	 * The purpose of a list's parameter. `filter`: a condition on a field, `title` or `title[contains]`. `deleted`: reads
	 * deleted records.
	 */
	readonly role?: 'page' | 'sort' | 'fields' | 'include' | 'search' | 'filter' | 'deleted' | undefined
	/**
	 * How several values are serialized. `repeated`: one parameter for each value of `schema`; `joined`: an array's items,
	 * separated by commas; `json`; `operators`: the plain value, or each property of the object as `name[operator]`. By
	 * default, one parameter for each item of an array.
	 */
	readonly written?: 'repeated' | 'joined' | 'json' | 'operators' | undefined
}

export interface BodyShape {
	readonly schema: JsonSchema
	/** The schema of a form. @default `schema` */
	readonly form?: JsonSchema | undefined
	readonly required: boolean
	/** Accepted media types. */
	readonly types: readonly string[]
	/** In a list of changes, the fields that select a record instead of changing it: its key, and its expected version. */
	readonly matched?: readonly string[] | undefined
}

/** A successful response. `schema` describes the value, which is `data` in the envelope. */
export interface AnswerShape {
	readonly status: number
	/** Another successful status, with the same schema. @default none */
	readonly otherStatus?: number | undefined
	readonly schema: JsonSchema
	/** The media type of bytes or text, which have no schema. @default JSON, with or without the envelope */
	readonly type?: string | undefined
	/** More media types, of the same records as text: `text/csv`. @default none */
	readonly others?: readonly string[] | undefined
	/** Whether the response has the `meta` of a page. */
	readonly isPage: boolean
	/** In a list of records, the fields whose values, joined by commas, are the last segment of a record's URL. */
	readonly key?: readonly string[] | undefined
	/** Names of possible headers: `ETag`, `Link`, `Location`, `X-Total-Count`. */
	readonly headers: readonly string[]
	/** Whether the application's code creates it, so that it may have another successful status. */
	readonly isOpen?: boolean | undefined
}

export interface Shape {
	/** A short description of the action; empty if unknown. */
	readonly summary: string
	/** Schemas of the path's params, in order, if more than their type is known. */
	readonly params: readonly JsonSchema[]
	readonly query: readonly ParameterShape[]
	/** `null` if none is read, `undefined` if nothing is known about it. */
	readonly body: BodyShape | null | undefined
	readonly answer: AnswerShape
	/** Names of request headers that have an effect: `If-Match`. */
	readonly headers: readonly string[]
	/** Error statuses specific to this action: 404, 409, 412, 422. */
	readonly refusals: readonly number[]
}
