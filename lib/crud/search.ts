/** `search`: every word in at least one of the searchable fields. */

import type { Condition } from '../models/model.ts'
import type { FieldMap } from './fields.ts'
import type { TermCount } from './filter.ts'
import { allOf, partOf } from './operator.ts'
import { badQuery } from './refusal.ts'

/** Most words of a search. */
const MAX_WORDS = 20

/**
 * The condition of a search; `undefined` for one without words.
 *
 * @throws RestError `bad_request` for too many words, and for what no text can hold
 */
export function searchCondition(text: string, fields: FieldMap, count: TermCount): Condition | undefined {
	if (/[\0\p{Surrogate}]/u.test(text))
		throw badQuery('search', 'text', 'must be well-formed Unicode without U+0000')
	const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))]
	if (words.length > MAX_WORDS) throw badQuery('search', 'max', `may have at most ${MAX_WORDS} words`)
	return allOf(...words.map((word) => wordCondition(partOf(word, 'search'), fields, count)))
}

function wordCondition(value: string, fields: FieldMap, count: TermCount): Condition {
	count.add('search')
	count.addText('search', fields.size)
	const terms = [...fields.values()].map(
		({ field }): Condition => ({ op: 'contains', field: field.name, value, ignoreCase: true }),
	)
	return { op: 'or', terms }
}
