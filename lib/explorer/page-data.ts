/** The data of a page, which the server embeds as JSON and the page's script reads. */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'

export interface PageData {
	/** Path and query as the client sent them, without origin. */
	readonly url: string
	/** Breadcrumbs, from the root to this page. */
	readonly crumbs: readonly Crumb[]
	/** The caller's id; `undefined` for anonymous callers. */
	readonly user: string | undefined
	/** `undefined` on a page that only shows the map. */
	readonly answer: AnswerData | undefined
	/** The methods of this path. */
	readonly operations: readonly OperationData[]
	/** URL template of a list's records: `/blog/articles/{id}`, or `/tags/{article},{tag}`, with fields of the record. */
	readonly recordPath: string | undefined
	/** The path of this list's totals; `undefined` if the caller may not use them. */
	readonly totalsPath: string | undefined
	/** The relations of the records at this path, as far as the caller may use them. */
	readonly relations: readonly RelationData[]
	readonly map: MapData | undefined
	/** Handler paths; texts that begin with one become links. */
	readonly roots: readonly string[]
}

export interface Crumb {
	readonly text: string
	/** `undefined` if that path has no page. */
	readonly url: string | undefined
}

export interface AnswerData {
	readonly status: number
	readonly reason: string
	readonly headers: readonly (readonly [name: string, value: string])[]
	readonly body: string
	/** Why only a part of the body is shown; `undefined` if all of it is. */
	readonly note: string | undefined
}

export interface OperationData {
	readonly method: string
	/** Its path, if it isn't the page's own. */
	readonly url?: string
	/** Whether it restores the deleted record of the page. */
	readonly restores?: true
	readonly imports?: true
	/** Whether its records can be exported to a file. */
	readonly exports?: true
	/** The declared summary, or else the name of the handler's method; empty for `_default`. */
	readonly summary: string
	/** Whether the caller may use it. If not, the other fields are empty. */
	readonly isAllowed: boolean
	readonly query: readonly ParameterShape[]
	/** Schema of the body; `undefined` if unknown. */
	readonly body: JsonSchema | undefined
	/** In a body that is a list of changes, the fields that identify a record, and that of its expected version. */
	readonly matched?: readonly string[] | undefined
	/** Whether it reads its body as a stream, for example an upload. */
	readonly isStreaming: boolean
	readonly isPage: boolean
	/** Whether it returns totals of records. */
	readonly isTotals: boolean
}

/** A relation of the records at a path. */
export interface RelationData {
	readonly name: string
	readonly isMany: boolean
	/** The foreign key: each field, with the field of the related record that it refers to; empty if there is none. */
	readonly by: readonly (readonly [own: string, other: string])[]
	/** As {@link PageData.recordPath}, of the related records; `undefined` if the caller can't open them. */
	readonly path: string | undefined
	/** The field with the name of a related record. */
	readonly label: string | undefined
	/** The list that is searched for values of `by` as the user types. */
	readonly choice: ChoiceData | undefined
	/** For a relation to many, on the page of a record. */
	readonly list: RelatedListData | undefined
}

/** A list that is searched as the user types. */
export interface ChoiceData {
	readonly url: string
	/** The parameter for the typed text: `search`, `name[icontains]`. */
	readonly parameter: string
}

/** The related records of one record. */
export interface RelatedListData {
	/** `/articles/7/comments`. */
	readonly url: string
	readonly limit: number
	/** The fields of their foreign key to the page's record. */
	readonly back: readonly string[]
	/** The fields of their key, whose values are joined by commas in URLs. */
	readonly key: readonly string[]
	/** Their own relations to one record. */
	readonly relations: readonly RelationData[]
	/** `undefined` if the caller can't create one here. */
	readonly create: OperationData | undefined
	/** How records are tied; `undefined` if the caller can't tie and untie them. */
	readonly tie: { readonly choice: ChoiceData | undefined } | undefined
}

export interface MapData {
	readonly handlers: readonly MapHandler[]
	/** Whether some operations are hidden because this caller may not use them. */
	readonly hasMore: boolean
}

export interface MapHandler {
	/** Path without the version: `blog/articles`. Handlers with the same name are versions of each other. */
	readonly name: string
	/** `v2`; `undefined` if the path has none. */
	readonly version: string | undefined
	readonly routes: readonly MapRoute[]
}

export interface MapRoute {
	/** Path template: `/blog/articles/{id}`. */
	readonly path: string
	/** For params with several values, the names of these: `{ id: 'article, tag' }`. */
	readonly lists?: Readonly<Record<string, string>>
	readonly operations: readonly { readonly method: string; readonly summary: string }[]
}
