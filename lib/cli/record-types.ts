/** TypeScript's types of tables as the API shows their records: what `verbena types` writes. */
import type { Field, FieldType, Model } from '../models/model.ts'

/** Types of JSON's values. A `bigint` that is written as text, and texts with choices, are decided by the field. */
const TYPES: Readonly<Record<FieldType, string>> = {
	...{ boolean: 'boolean', integer: 'number', bigint: 'number', float: 'number', json: 'unknown' },
	...{ decimal: 'string', text: 'string', uuid: 'string', date: 'string', time: 'string' },
	...{ timestamp: 'string', bytes: 'string', other: 'string' },
}

/**
 * A module with an interface `Db`: `new CrudHandler<Db['article']>(…)`, `new CrudClient<Db['article']>(…)`.
 *
 * @param place what they are the tables of, for people
 */
export function recordTypes(models: ReadonlyMap<string, Model>, place: string): string {
	const tables = [...models].map(([name, { fields }]) => {
		const lines = fields.map((field) => `\t\t${propertyName(field.name)}: ${typeOf(field)}\n`)
		return `\t${propertyName(name)}: {\n${lines.join('')}\t}\n`
	})
	return `/** Records of ${place.replaceAll('*/', '* /')}, as the API shows them. Written by \`verbena types\`. */
export interface Db {
${tables.join('')}}
`
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
