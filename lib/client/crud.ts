/**
 * The public names of `verbena/client/crud`: `CrudClient` alone, a small file for pages that load modules without a
 * bundler. A page uses either this or `verbena/client`: each has an `ApiError` of its own.
 */

export { ApiError } from './answer.ts'
export { CrudClient, etagOf } from './crud-client.ts'
