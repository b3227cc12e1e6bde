/** Names of tables, as users write them: `article`, `blog.article`, and in backticks whatever they hold. */

export interface TableName {
	/** `undefined` for the database that the pool uses. */
	readonly schema: string | undefined
	readonly name: string
}

const PART = '(?:`((?:[^`]|``)+)`|([^`.]+))'
const NAME = new RegExp(`^(?:${PART}\\.)?${PART}$`)

/** @throws TypeError for what is no name */
export function parseTableName(written: string): TableName {
	const found = typeof written === 'string' ? NAME.exec(written) : null
	if (found === null) {
		throw new TypeError(
			`a table is named like 'article', 'blog.article' or '\`odd.name\`', got ${JSON.stringify(written)}`,
		)
	}
	const [, quotedSchema, plainSchema, quotedName, plainName] = found
	const name = unquoted(quotedName) ?? plainName
	if (name === undefined) throw new TypeError('unreachable: the pattern has a name')
	return { schema: unquoted(quotedSchema) ?? plainSchema, name }
}

function unquoted(name: string | undefined): string | undefined {
	return name?.replaceAll('``', '`')
}
