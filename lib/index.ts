/** Verbena's public names, in the order in which a request meets them. */

export type { Acl } from './auth/acl.ts'
export type { Authenticator, User } from './auth/authenticator.ts'
export { RoleAcl } from './auth/role-acl.ts'
export { type Cache, CacheFull, type JsonValue } from './cache/cache.ts'
export { MemoryCache } from './cache/memory-cache.ts'
export { remember } from './cache/remember.ts'
export type { Controller } from './controller.ts'
export { type CustomReply, type ReplyOptions, reply } from './custom-reply.ts'
export type {
	Access,
	AccessRules,
	CustomRoutes,
	DeclaredSpec,
	Specs,
	Streaming,
	StreamingOptions,
} from './declarations.ts'
export { isRestError, RestError, type RestErrorOptions } from './error.ts'
export { type HandlerController, type Mountable, type Refused, RestHandler } from './handler.ts'
export type { Logger } from './logger.ts'
export type { InjectedReply, InjectedRequest } from './node/inject.ts'
export type { TrustProxy } from './node/proxies.ts'
export type { ServerOptions } from './options.ts'
export type { Request } from './request.ts'
export { createServer, type Handlers, type Listener, type Listening, Server } from './server.ts'
export type { Bytes, Clock, Milliseconds, Seconds } from './time.ts'
export type { Detail, ErrorCode } from './wire/codes.ts'
export { RawJson } from './wire/raw-json.ts'
