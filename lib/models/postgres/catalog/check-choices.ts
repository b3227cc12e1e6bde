/**
 * The texts that a check constraint allows in a column, `check (state in ('draft', 'public'))`, read from the expression tree in
 * PostgreSQL's catalog. The functions that write a check as SQL would wait for a lock on the table, so that a model couldn't be
 * opened during a migration. Called by `introspect.ts`.
 */

/** The operator `=` of texts, by its oid. */
const EQUAL = /^\{(?:OPEXPR|SCALARARRAYOPEXPR) :opno 98 (?!.*:useOr false)/s

/** A column or the value of a domain, and texts; other nodes only say that a varchar is compared as a text. */
const NODES =
	/^\w+ (?:RELABELTYPE )?(?:VAR|COERCETODOMAINVALUE) (?:(?:ARRAYCOERCEEXPR )?ARRAYEXPR )?CONST(?: CONST)*(?: RELABELTYPE CASETESTEXPR)?$/

/** A constant of type text or varchar, as bytes from -128 to 127, of which the first four are its length. */
const TEXT = /\{CONST :consttype (?:25|1043) [^{}]*:constvalue \d+ \[ ((?:-?\d+ )+)\]\}/g

const LENGTH_BYTES = 4

/** @param condition the tree, in UTF-8; `undefined` if it is of another form, which is left to the database */
export function checkedChoices(condition: string): readonly string[] | undefined {
	if (!EQUAL.test(condition)) return undefined
	const nodes = Array.from(condition.matchAll(/\{([A-Z]+) /g), ([, node = '']) => node)
	if (!NODES.test(nodes.join(' '))) return undefined
	const texts = Array.from(condition.matchAll(TEXT), ([, bytes = '']) => textOf(bytes))
	const constants = nodes.filter((node) => node === 'CONST')
	return texts.length === constants.length ? [...new Set(texts)] : undefined
}

function textOf(bytes: string): string {
	return Buffer.from(bytes.trim().split(' ').map(Number)).toString('utf8', LENGTH_BYTES)
}
