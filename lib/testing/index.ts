/** Public names of `verbena/testing`: the contracts for people who write adapters. */
export { cacheContract } from './cache-contract.ts'
export type { CacheContractOptions, MakeCache } from './cache-stage.ts'
export type { Case } from './case.ts'
