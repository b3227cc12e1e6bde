/** The public names of `verbena/client`: for browsers, and for Node 20 and later. */

export type { Detail, ErrorCode } from '../wire/codes.ts'
export type { PageMeta as Meta } from '../wire/list.ts'
export type { Id } from './address.ts'
export { ApiError, type ApiErrorFacts } from './api-error.ts'
export { type CallOptions, CrudClient, type CrudClientOptions, type RecordOptions } from './crud-client.ts'
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
export type { Fetch, FetchInit, HeaderSource } from './send.ts'
export { type SigningKey, type SignOptions, signRequest } from './sign-request.ts'
