/** Verbena's public names, sorted by file. */

export { anyOf } from './auth/any-of.ts'
export type { Acl, Authenticator, User } from './auth/authenticator.ts'
export { HmacAuthenticator, type HmacAuthenticatorOptions } from './auth/hmac/hmac-authenticator.ts'
export type { DeclaredKey, FindKey, HmacKey, HmacKeys, HmacSecret } from './auth/hmac/keys.ts'
export { type DerivedRole, type Role, RoleAcl } from './auth/role-acl.ts'
export {
	type NewToken,
	newToken,
	TokenAuthenticator,
	type TokenAuthenticatorOptions,
	tokenDigest,
} from './auth/token/token-authenticator.ts'
export type { TokenUser, TokenUsers } from './auth/token/token-users.ts'
export { isRestError, RestError, type RestErrorOptions } from './base/error.ts'
export type { Logger } from './base/logger.ts'
export type { Bytes, Clock, Milliseconds, Seconds } from './base/time.ts'
export {
	type Cache,
	CacheFull,
	type CacheFullDetails,
	type CacheScope,
	CacheUnavailable,
	type JsonValue,
} from './cache/cache.ts'
// For authors of caches: the checks of key, value and time that every cache must make.
export { checkKey, toMilliseconds, toText } from './cache/entry.ts'
export { MemoryCache, type MemoryCacheOptions } from './cache/memory-cache.ts'
export { type RememberOptions, remember, type Storable } from './cache/remember.ts'
export type { CorsOptions } from './cors/cors.ts'
export { CrudPage, CrudRecord } from './crud/answers.ts'
export { CrudHandler, type CrudValues } from './crud/crud-handler.ts'
export { databaseError } from './crud/database-errors.ts'
export type { Needed } from './crud/json-text.ts'
export type { CrudQuery } from './crud/list-query.ts'
export type { CrudFieldLimits } from './crud/narrow.ts'
export type {
	AuditOption,
	CrudDialect,
	CrudNamedOptions,
	CrudNamedTotals,
	CrudOperation,
	CrudOptions,
	CrudOptionsOf,
	CrudRelation,
	CrudRules,
	CrudTotals,
	DatabaseMessages,
	RelatedHandler,
} from './crud/options.ts'
export type { CrudId } from './crud/record-id.ts'
export type { CrudScope } from './crud/scope.ts'
export type { TotalsRequest } from './crud/totals/request.ts'
export { type Transacting, type TransactionOptions, transaction } from './crud/transaction.ts'
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
} from './exchange/action.ts'
export type { Controller } from './handler/controller.ts'
export type { BeforeAnswer, ErrorAnswer } from './handler/handler.ts'
export { type HandlerController, type Mountable, type Refused, RestHandler } from './handler/handler.ts'
export type { Deprecated } from './handler/mount/deprecated.ts'
export type { HealthCheck } from './health/checks.ts'
export type { HealthOptions } from './health/health.ts'
export type { RateLimit } from './limits/rate-limit.ts'
export type { MetricsOptions } from './metrics/metrics.ts'
export type { MemoryField } from './models/memory/declared.ts'
export { MemoryModel, type MemoryModelOptions } from './models/memory/memory-model.ts'
// Everything for writing models is in `verbena/model`; these are for users of CrudHandler.
export {
	type Comparison,
	type Condition,
	DEFAULT,
	type Field,
	type FieldType,
	type Link,
	type Model,
	type Reference,
	type Value,
	type Values,
	type Within,
} from './models/model.ts'
export { ModelError, type ModelErrorKind, type RaisedError } from './models/model-error.ts'
export type { DatabaseSession } from './models/session.ts'
export type { BatchTrace } from './models/sql/gathered-reads.ts'
export type {
	FailedRequest,
	RequestFacts,
	ServedRequest,
	ServerEvents,
	ServerListener,
} from './observe/events.ts'
export type { RequestTrace } from './observe/trace.ts'
export type { OpenApiLicense, OpenApiOptions } from './openapi/options.ts'
export type { Encoding } from './reply/compression/codings.ts'
export type { CompressionOptions } from './reply/compression/negotiate.ts'
export type { CustomReply, ReplyOptions } from './reply/custom-reply.ts'
export { reply } from './reply/custom-reply.ts'
export type { Request } from './request/request.ts'
export type {
	ListenFd,
	Listening,
	ListeningOnPath,
	ListeningUnnamed,
	ListenPath,
} from './server/listen.ts'
export { loadHandlers } from './server/load-handlers.ts'
export type { ServerOptions } from './server/options.ts'
export { createServer, type Handlers, type Listener, Server } from './server/server.ts'
export type { FetchOptions } from './transport/fetch.ts'
export type { InjectedReply, InjectedRequest } from './transport/inject.ts'
export type { TrustProxy } from './transport/proxies.ts'
export type { StandardSchemaV1 } from './validate/standard-schema.ts'
export type { Params, Spec } from './validate/validate.ts'
export { ruleValidator, validateList } from './validate/validate.ts'
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
