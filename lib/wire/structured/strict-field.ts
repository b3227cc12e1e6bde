/** Fields that are Structured Fields, in their strict form: the component parameter `sf` of RFC 9421 §2.1.1. */
import { parseDictionary, parseItem, parseList } from './fields.ts'
import { dictionaryText, itemText, listText } from './text.ts'

export type FieldKind = 'dictionary' | 'list' | 'item'

/**
 * Structured Fields that requests have. Only of a known one does `sf` mean anything: one text can be read as a
 * list and as a dictionary, with different results.
 */
const STRUCTURED: ReadonlyMap<string, FieldKind> = new Map([
	['accept-signature', 'dictionary'],
	['content-digest', 'dictionary'],
	['idempotency-key', 'item'],
	['priority', 'dictionary'],
	['repr-digest', 'dictionary'],
	['signature', 'dictionary'],
	['signature-input', 'dictionary'],
	['want-content-digest', 'dictionary'],
	['want-repr-digest', 'dictionary'],
])

/**
 * A field's value, read and written again. `own` are fields of the application's own, by name in lower case.
 *
 * @throws RangeError for a field that isn't known, SyntaxError for a value that is malformed
 */
export function strictText(
	name: string,
	text: string,
	own: Readonly<Record<string, FieldKind>> | undefined,
): string {
	const kind = own !== undefined && Object.hasOwn(own, name) ? own[name] : STRUCTURED.get(name)
	if (kind === undefined) throw new RangeError(`${name} is not known as a Structured Field, which sf needs`)
	if (kind === 'dictionary') return dictionaryText(parseDictionary(text))
	return kind === 'list' ? listText(parseList(text)) : itemText(parseItem(text))
}
