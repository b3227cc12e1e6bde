/** The public names of `verbena/client`: for browsers, and for Node 20 and later. */

export type { Detail, ErrorCode } from '../wire/codes.ts'
export type { PageMeta as Meta } from '../wire/list.ts'
export type { Id } from './address.ts'
export { client } from './api.ts'
export { ApiError, type ApiErrorFacts } from './api-error.ts'
export type { ApiPromise, ApiResponse } from './api-promise.ts'
export type { CallOptions, ChangeOptions, CreateOptions, RecordOptions, RecordOrId } from './call-options.ts'
export { CrudClient, type CrudClientOptions } from './crud-client.ts'
export type { Answered, Jsonify } from './jsonify.ts'
export type {
	FieldName,
	Filter,
	ListQuery,
	Match,
	Operators,
	Page,
	Scalar,
	SelectionQuery,
	SortTerm,
	Where,
} from './list-query.ts'
export type { ApiMeta } from './meta.ts'
export { etagOf } from './origin.ts'
export type { Api, BodyOptions, GetOptions, QueryFields, QueryValue } from './route-types.ts'
export type { Fetch, FetchInit, HeaderSource, SendOptions } from './settings.ts'
export { type SigningKey, type SignOptions, signRequest } from './sign-request.ts'
