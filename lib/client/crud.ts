/**
 * The public names of `verbena/client/crud`: `CrudClient` by itself, a small file for pages that load modules as they
 * are. A page uses either this or `verbena/client`: each has an `ApiError` of its own.
 */

export { ApiError } from './api-error.ts'
export { CrudClient } from './crud-client.ts'
export { etagOf } from './origin.ts'
