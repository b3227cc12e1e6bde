/**
 * The texts that a check constraint allows in a column, `check (state in ('draft', 'public'))`, from the table's `create table`
 * statement. A condition of any other form is left to the database. Called by `introspect.ts`.
 */

/** The choices by the columns' names, in lower case. */
export function checkedChoices(sql: string): ReadonlyMap<string, readonly string[]> {
	const tokens = tokensOf(sql)
	const found = new Map<string, readonly string[]>()
	for (const [at, { shape }] of tokens.entries()) {
		const condition = shape === 'check' ? parenthesized(tokens, at + 1) : []
		if (!CHOICES.test(condition.map((token) => token.shape).join(''))) continue
		const column = condition.find((token) => token.shape === 'N')?.value.toLowerCase() ?? ''
		const texts = condition.filter((token) => token.shape === 'T').map(({ value }) => value)
		if (!found.has(column)) found.set(column, [...new Set(texts)])
	}
	return found
}

interface Token {
	/** `N` for a name, `T` for a text, `check` and `in` for these words, else the sign itself. */
	readonly shape: string
	/** The name or the text, without quotes. */
	readonly value: string
}

/** `state in ('draft', 'public')`, `state = 'draft'`; more parentheses than these change nothing. */
const CHOICES = /^\(*N\)*(?:=\(*T|in\(T(?:,T)*)\)*$/

const TOKEN =
	/\s+|--.*|\/\*[\s\S]*?\*\/|'(?<text>(?:[^']|'')*)'|"(?<quoted>(?:[^"]|"")+)"|`(?<ticked>(?:[^`]|``)+)`|\[(?<bracketed>[^\]]+)\]|(?<word>[\p{L}_][\p{L}\p{N}_$]*)|(?<sign>.)/gu

function tokensOf(sql: string): Token[] {
	return Array.from(sql.matchAll(TOKEN), ({ groups = {} }): Token | undefined => {
		const { text, quoted, ticked, bracketed, word, sign } = groups
		if (text !== undefined) return { shape: 'T', value: text.replaceAll("''", "'") }
		const name = quoted?.replaceAll('""', '"') ?? ticked?.replaceAll('``', '`') ?? bracketed
		if (name !== undefined) return { shape: 'N', value: name }
		if (word === undefined) return sign === undefined ? undefined : { shape: sign, value: sign }
		const keyword = /^(?:check|in)$/i.test(word) ? word.toLowerCase() : undefined
		return { shape: keyword ?? 'N', value: word }
	}).filter((token) => token !== undefined)
}

/** The tokens from an opening parenthesis to the closing one; none if it is never closed. */
function parenthesized(tokens: readonly Token[], start: number): readonly Token[] {
	let depth = 0
	for (let at = start; at < tokens.length; at++) {
		const shape = tokens[at]?.shape
		if (shape === '(') depth++
		else if (shape === ')') depth--
		if (depth === 0) return tokens.slice(start, at + 1)
	}
	return []
}
