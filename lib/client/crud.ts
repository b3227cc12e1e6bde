/**
 * The public names of `verbena/client/crud`: `CrudClient` alone, a small file for pages that load modules without a
 * bundler. A page should import either this or `verbena/client`, not both: each has its own `ApiError`, so `instanceof`
 * would fail.
 */

export { ApiError } from './answer.ts'
export { CrudClient } from './crud-client.ts'
export { etagOf } from './origin.ts'
export type { Many, One } from './record-types.ts'
