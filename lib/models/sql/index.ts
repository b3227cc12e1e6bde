/** Public names of `verbena/sql`, for writing a model of another SQL database. */

export { RawJson } from '../../wire/raw-json.ts'
export type { Span } from '../totals/time-zone.ts'
export {
	countRead,
	type Dialect,
	type InsertedRows,
	type KeyColumn,
	type ListParts,
	patternOf,
	type RecordSql,
	Sql,
	type TextMatch,
	type TotalColumn,
	type TotalsDialect,
	type TotalsParts,
	type UpdateOfAll,
} from './dialect.ts'
export { type Driver, type Rows, SetupError, type Statement } from './driver.ts'
export type {
	Embedded,
	EmbeddedApart,
	EmbeddedList,
	EmbeddedParts,
	EmbeddedTotal,
	Embedding,
	LargeSql,
	Member,
	OrderColumn,
	ReadApart,
	Selected,
} from './embedding.ts'
export { type Keyless, type KeyOption, keyOf, primaryKey, withKey } from './key.ts'
export {
	type BigintForm,
	type BrokenView,
	type DatabaseOptions,
	type OpenAllOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from './options.ts'
export { NoAnswer, NoConnection } from './pool.ts'
export { SqlModel } from './sql-model.ts'
export {
	ALIAS,
	type Base,
	type Column,
	type Constraint,
	columnName,
	type Table,
	type Target,
	tableName,
	valuesOfId,
} from './table.ts'
export { type Lru, lruOf } from './text-cache.ts'
export { isDigitText, isExact, isExtreme, type TotalsWords, writeTotals } from './totals.ts'
export { runTransaction, type Session, within } from './transaction.ts'
