/** Verbena's public names, in the order in which a request meets them. */

export type { Acl } from './auth/acl.ts'
export { anyOf } from './auth/any-of.ts'
export type { Authenticator, User } from './auth/authenticator.ts'
export type { DeclaredKey, FindKey, HmacKey, HmacKeys, HmacSecret } from './auth/hmac/keys.ts'
export { HmacAuthenticator, type HmacAuthenticatorOptions } from './auth/hmac-authenticator.ts'
export { type DerivedRole, type Role, RoleAcl } from './auth/role-acl.ts'
export { type NewToken, newToken, tokenDigest } from './auth/token.ts'
export { TokenAuthenticator, type TokenAuthenticatorOptions } from './auth/token-authenticator.ts'
export type { TokenUser, TokenUsers } from './auth/token-users.ts'
export {
	type Cache,
	CacheFull,
	type CacheFullDetails,
	type CacheScope,
	CacheUnavailable,
	type JsonValue,
} from './cache/cache.ts'
// For caches of your own: the checks of key, value and time that every one must make.
export { checkKey, toMilliseconds, toText } from './cache/entry.ts'
export { MemoryCache, type MemoryCacheOptions } from './cache/memory-cache.ts'
export { type RememberOptions, remember, type Storable } from './cache/remember.ts'
export type { Encoding } from './compression/codings.ts'
export type { CompressionOptions } from './compression/options.ts'
export type { Controller } from './controller.ts'
export type { CorsOptions } from './cors/options.ts'
export { CrudHandler, type CrudScope, type CrudValues } from './crud/crud-handler.ts'
export type { CrudOperation, CrudOptions, CrudRules } from './crud/crud-options.ts'
export { CrudPage, CrudRecord } from './crud/crud-record.ts'
export type { DatabaseMessages } from './crud/database-messages.ts'
export type { CrudQuery } from './crud/list-query.ts'
export type { MemoryField } from './crud/memory/declared.ts'
export { MemoryModel, type MemoryModelOptions } from './crud/memory-model.ts'
export {
	type Absent,
	type Changes,
	type Comparison,
	type Condition,
	type Created,
	DEFAULT,
	type Field,
	type FieldType,
	type Found,
	type Guard,
	type Listed,
	type ListQuery,
	type Model,
	type Order,
	type Selection,
	type Value,
	type Values,
} from './crud/model.ts'
export { ModelError, type ModelErrorKind, type RaisedError } from './crud/model-error.ts'
export type { Needed } from './crud/needed.ts'
export type { CustomReply, ReplyOptions } from './custom-reply.ts'
export { reply } from './custom-reply.ts'
export type {
	Access,
	AccessRules,
	CustomRoutes,
	DeclaredLimit,
	DeclaredSpec,
	Docs,
	MethodDocs,
	RateLimits,
	Specs,
	Streaming,
	StreamingOptions,
} from './declarations.ts'
export { isRestError, RestError, type RestErrorOptions } from './error.ts'
export { type HandlerController, type Mountable, type Refused, RestHandler } from './handler.ts'
export type { BeforeAnswer, ErrorAnswer } from './handler-hooks.ts'
export type { HealthCheck, HealthOptions } from './health/options.ts'
export type { RateLimit } from './limit/rate-limit.ts'
export { loadHandlers } from './load-handlers.ts'
export type { Logger } from './logger.ts'
export type { Deprecated } from './mount/deprecated.ts'
export type { FetchOptions } from './node/fetch.ts'
export type { InjectedReply, InjectedRequest } from './node/inject.ts'
export type {
	ListenFd,
	Listening,
	ListeningOnPath,
	ListeningUnnamed,
	ListenPath,
} from './node/listen-at.ts'
export type { TrustProxy } from './node/proxies.ts'
export type {
	FailedRequest,
	RequestFacts,
	ServedRequest,
	ServerEvents,
	ServerListener,
} from './observe/events.ts'
export type { RequestTrace } from './observe/trace.ts'
export type { OpenApiLicense, OpenApiOptions } from './openapi/options.ts'
export type { ServerOptions } from './options.ts'
export type { Request } from './request.ts'
export { createServer, type Handlers, type Listener, Server } from './server.ts'
export type { Bytes, Clock, Milliseconds, Seconds } from './time.ts'
export type { Params, Spec } from './validate/params.ts'
export type { StandardSchemaV1 } from './validate/standard-schema.ts'
export { ruleValidator, validateList } from './validate/validate-list.ts'
export type {
	Check,
	Constraints,
	Result,
	Rule,
	RuleName,
	ValidateOptions,
	Validator,
} from './validate/validator.ts'
export type { Detail, ErrorCode } from './wire/codes.ts'
export type { PageMeta } from './wire/list.ts'
export { RawJson } from './wire/raw-json.ts'
