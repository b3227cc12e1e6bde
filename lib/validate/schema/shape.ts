/** `Shape`: what one action takes and answers, as far as it is declared. For the OpenAPI description and the explorer. */
import type { JsonSchema } from './json-schema.ts'

/** A parameter of the path or the query. */
export interface ParameterShape {
	readonly name: string
	readonly schema: JsonSchema
	readonly required: boolean
	readonly description?: string
	/** What a parameter of a list is for. `filter`: a condition on a field, `title` or `title[contains]`. */
	readonly role?: 'page' | 'sort' | 'fields' | 'search' | 'filter' | undefined
	/**
	 * How several values are written. `repeated`: the parameter once for each value of `schema`; `joined`: the array's
	 * items with commas; `json`; `operators`: the plain value, or each property of the object as `name[operator]`. By
	 * default an array is one parameter for each item.
	 */
	readonly written?: 'repeated' | 'joined' | 'json' | 'operators' | undefined
}

export interface BodyShape {
	readonly schema: JsonSchema
	readonly required: boolean
	/** Accepted media types. */
	readonly types: readonly string[]
}

/** A success. `schema` describes the value, which is `data` in the envelope. */
export interface AnswerShape {
	readonly status: number
	readonly schema: JsonSchema
	/** The media type of bytes or text, which have no schema. @default JSON, in the envelope or bare */
	readonly type?: string | undefined
	/** Whether `meta` of a page is beside the value. */
	readonly isPage: boolean
	/** Of a list of records: the field whose value is the last segment of a record's URL. */
	readonly key?: string | undefined
	/** Names of possible headers: `ETag`, `Link`, `Location`, `X-Total-Count`. */
	readonly headers: readonly string[]
	/** Whether the application's code makes it, so it may have another successful status. */
	readonly isOpen?: boolean | undefined
}

export interface Shape {
	/** What the action does, in a few words; empty if unknown. */
	readonly summary: string
	/** Schemas of the path's params in order, where more than their type is known. */
	readonly params: readonly JsonSchema[]
	readonly query: readonly ParameterShape[]
	/** `undefined` where none is read or nothing is known about it. */
	readonly body: BodyShape | undefined
	readonly answer: AnswerShape
	/** Names of request headers that have an effect: `If-Match`. */
	readonly headers: readonly string[]
	/** Error statuses specific to this action: 404, 409, 412, 422. */
	readonly refusals: readonly number[]
}
