/** `verbena types`: the TypeScript types of the tables' records as the API sends them. */
import type { Field, FieldType, Model } from '../models/model.ts'

/** TypeScript types of JSON values. The types of a `bigint` sent as text and of texts with choices depend on the field. */
const TYPES: Readonly<Record<FieldType, string>> = {
	...{ boolean: 'boolean', integer: 'number', bigint: 'number', float: 'number', json: 'unknown' },
	...{ decimal: 'string', text: 'string', uuid: 'string', date: 'string', time: 'string' },
	...{ timestamp: 'string', bytes: 'string', other: 'string' },
}

/** A table, and the tables that its relations lead to. */
export interface RelatedTable {
	readonly name: string
	readonly model: Model
	readonly related: readonly { readonly name: string; readonly table: string; readonly isMany: boolean }[]
}

/**
 * A module with the interfaces `Db` and `Related`: `new CrudHandler<Db['article']>(…)`,
 * `new CrudClient<Db['article'], Related['article']>(…)`.
 *
 * @param place the database, for people
 */
export function recordTypes(tables: readonly RelatedTable[], place: string): string {
	const records = tables.map(({ name, model: { fields } }) =>
		membered(
			name,
			fields.map((field) => [field.name, typeOf(field)]),
		),
	)
	const db = `/** Records of ${place.replaceAll('*/', '* /')}, as the API shows them. Written by \`verbena types\`. */
export interface Db {
${records.join('')}}
`
	const withRelations = tables.filter(({ related }) => related.length > 0)
	if (withRelations.length === 0) return db
	const relations = withRelations.map(({ name, related }) =>
		membered(
			name,
			related.map((one) => {
				const [record, relations] = ['Db', 'Related'].map((of) => `${of}[${quoted(one.table)}]`)
				const isRelated = withRelations.some((other) => other.name === one.table)
				const both = isRelated ? `${record}, ${relations}` : `${record}`
				return [one.name, `${one.isMany ? 'Many' : 'One'}<${both}>`]
			}),
		),
	)
	const used = ['Many', 'One'].filter((one) => relations.some((text) => text.includes(`: ${one}<`)))
	return `import type { ${used.join(', ')} } from 'verbena/client/crud'

${db}
/** Their relations, for a client. */
export interface Related {
${relations.join('')}}
`
}

/** A property whose type is an object with these members. */
function membered(name: string, members: readonly (readonly [name: string, type: string])[]): string {
	const lines = members.map(([member, type]) => `\t\t${propertyName(member)}: ${type}\n`)
	return `\t${propertyName(name)}: {\n${lines.join('')}\t}\n`
}

/** A property's name as source: quoted unless it is an identifier. */
export function propertyName(name: string): string {
	return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : quoted(name)
}

/** A text as source, in single quotes. */
export function quoted(text: string): string {
	const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
	return `'${escaped}'`
}

function typeOf({ type, nullable, asText, choices }: Field): string {
	const base = asText === true ? 'string' : (choices?.map(quoted).join(' | ') ?? TYPES[type])
	return nullable && base !== 'unknown' ? `${base} | null` : base
}
