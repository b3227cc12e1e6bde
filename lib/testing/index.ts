/**
 * The public names of `verbena/testing`: the contracts of `Model` and `Cache`, for tests of implementations. Nothing in
 * `lib/` calls them.
 */
export type { CacheContractOptions, MakeCache } from './cache/fixture.ts'
export { cacheContract } from './cache-contract.ts'
export type { Case } from './case.ts'
export {
	type ContractField as ModelContractField,
	type Feature as ModelFeature,
	FIELDS as MODEL_FIELDS,
	type MakeRelatedModels,
	type RelatedModels,
} from './model/fields.ts'
export type { MakeModel, ModelContractOptions } from './model/fixture.ts'
export { modelContract } from './model-contract.ts'
