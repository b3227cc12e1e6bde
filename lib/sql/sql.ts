/** `Sql`, by its own name: the statement that is being written. */
export { Sql } from './dialect.ts'
