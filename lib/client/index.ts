/**
 * The public names of `verbena/client`, for browsers and for Node 20 and later: `CrudClient` and `client()`, which call
 * a server through `send.ts`, and `signRequest`. Nothing on the server calls them. At run time they import only
 * `wire/`.
 */

export type { Detail, ErrorCode } from '../wire/codes.ts'
export type { PageMeta as Meta } from '../wire/list.ts'
export type { Id } from './address.ts'
export { ApiError, type ApiErrorFacts, type ApiMeta } from './answer.ts'
export { client } from './api.ts'
export type {
	Changed,
	ChangeOptions,
	CreateOptions,
	CrudClientOptions,
	ExportOptions,
	Imported,
	ImportOptions,
	ImportSource,
	Progress,
	RecordOptions,
	RecordOrId,
} from './call-options.ts'
export { CrudClient, type ManyClient, type OneClient, type RelatedClient } from './crud-client.ts'
export type { Answered, Jsonify } from './jsonify.ts'
export { etagOf } from './origin.ts'
export type {
	Filter,
	Include,
	IncludeMany,
	IncludeOne,
	ListQuery,
	Match,
	Operators,
	Page,
	Quantified,
	Scalar,
	Selection,
	SelectionQuery,
	SortTerm,
	Where,
} from './query-types.ts'
export type { KeyedOptions } from './record-call.ts'
export type { FieldName, FieldPath, Many, NoRelations, One, RelatedMeta, Selected } from './record-types.ts'
export type {
	Api,
	ApiPromise,
	ApiResponse,
	BodyOptions,
	GetOptions,
	QueryFields,
	QueryValue,
} from './route-types.ts'
export type { CallOptions, Fetch, FetchInit, HeaderSource, SendOptions } from './settings.ts'
export { type SigningKey, type SignOptions, signRequest } from './sign-request.ts'
export type { Having, TimePart, TotalOperators, TotalsGroup, TotalsKey, TotalsQuery } from './totals.ts'
