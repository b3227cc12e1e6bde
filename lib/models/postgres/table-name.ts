/** Finds the table that a name means. */
import { nearest } from '../../base/options.ts'
import type { Relation } from './catalog.ts'

/** A part of a name as it stands in SQL: quoted, or without quotes and dots. */
const QUALIFIED = /^(?:("(?:[^"]|"")+"|[^".]+)\.)?("(?:[^"]|"")+"|[^".]+)$/

/**
 * The relation called `name`: by its whole name as it is (`article`, `my "table"`), as `schema.name`, or with
 * either quoted as in SQL (`"my.schema"."my ""table"""`). Without a schema it must be found by the connection's
 * `search_path`.
 *
 * @throws TypeError where there is none, naming those there are
 */
export function relationCalled(name: string, relations: readonly Relation[]): Relation {
	const found = visible(name, relations) ?? split(name, relations) ?? quoted(name, relations)
	if (found !== undefined) return found
	const names = relations.map((relation) =>
		relation.isVisible ? relation.name : `${relation.schema}.${relation.name}`,
	)
	throw new TypeError(`there is no table or view ${JSON.stringify(name)}${nearest(name, names)}`)
}

function visible(name: string, relations: readonly Relation[]): Relation | undefined {
	return relations.find((relation) => relation.isVisible && relation.name === name)
}

/** Schemas may have dots in their names too. */
function split(name: string, relations: readonly Relation[]): Relation | undefined {
	return relations.find((relation) => `${relation.schema}.${relation.name}` === name)
}

function quoted(name: string, relations: readonly Relation[]): Relation | undefined {
	const [, schema, own] = QUALIFIED.exec(name) ?? []
	if (own === undefined) return undefined
	if (schema === undefined) return visible(unquoted(own), relations)
	return relations.find((relation) => relation.schema === unquoted(schema) && relation.name === unquoted(own))
}

function unquoted(part: string): string {
	return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part
}
