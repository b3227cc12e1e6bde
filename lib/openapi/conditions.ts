/**
 * The conditions on a field as one parameter, for descriptions: `rank=3`, or `rank[gte]=3&rank[lt]=9` as an object of
 * operators. One by one they are 200 for a table of 20 columns, and nobody finds anything in swagger-ui or Postman.
 */
import type { JsonSchema } from '../validate/schema/json-schema.ts'
import type { ParameterShape } from '../validate/schema/shape.ts'

/** `rank[gte]`. */
const BRACKETED = /^(.*)\[(\w+)\]$/s

/**
 * The parameters of a query, with those of a field's operators gathered in that of its plain value. Where a field has
 * none (it is called as another parameter is, or can't be compared with) they stay as they are: swagger-ui fills in
 * and sends an object that nothing stands beside.
 */
export function gathered(query: readonly ParameterShape[]): readonly ParameterShape[] {
	const byField = new Map(query.filter(isPlain).map(({ name }) => [name, new Map<string, ParameterShape>()]))
	const others = query.filter((param) => {
		const [, field = '', operator = ''] = BRACKETED.exec(param.name) ?? []
		const operators = param.role === 'filter' && !isPlain(param) ? byField.get(field) : undefined
		operators?.set(operator, param)
		return operators === undefined
	})
	return others.map((param) => {
		const operators = byField.get(param.name)
		return operators === undefined || operators.size === 0 ? param : withOperators(param, operators)
	})
}

function isPlain({ role, written }: ParameterShape): boolean {
	return role === 'filter' && written === 'repeated'
}

function withOperators(
	{ name, schema, required }: ParameterShape,
	operators: ReadonlyMap<string, ParameterShape>,
): ParameterShape {
	const properties = [...operators].map(([operator, param]) => [operator, operand(param)])
	const object: JsonSchema = {
		type: 'object',
		properties: Object.fromEntries(properties),
		additionalProperties: false,
	}
	return {
		...{ name, required, role: 'filter', written: 'operators' },
		description: `${name} is this; or \`${name}[op]\`, op being ${[...operators.keys()].join(', ')}`,
		schema: { anyOf: [...(schema.anyOf ?? [schema]), object] },
	}
}

/** A list is a text here: clients don't write arrays within objects. */
function operand({ schema, description = '', written }: ParameterShape): JsonSchema {
	if (written !== 'joined') return { ...schema, description }
	return { type: 'string', description: `${description}, with commas between` }
}
