/** Public names of `verbena/model`, for implementing `Model` over another store. */
export { RawJson } from '../wire/raw-json.ts'
export { joinId, splitId } from '../wire/record-id.ts'
export { keyNames } from './key.ts'
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
	type Link,
	type Listed,
	type ListQuery,
	type Model,
	NOW,
	type Order,
	type Reference,
	type Related,
	type Selection,
	type TimePart,
	type Total,
	type Totaled,
	type TotalsCondition,
	type TotalsKey,
	type TotalsOrder,
	type TotalsQuery,
	type Upsert,
	type Upserted,
	type Value,
	type Values,
	type Within,
} from './model.ts'
export { ModelError, type ModelErrorKind, type RaisedError, refuseLarger } from './model-error.ts'
export type { Replica, ReplicaState, Replicas, ReplicatedModel } from './replicas.ts'
export type { DatabaseSession, SessionModel } from './session.ts'
