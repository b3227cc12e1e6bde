/** All kinds of visits, and drawing one at random. */
import type { Random } from '../random.ts'
import { BODIES } from './kinds/bodies.ts'
import { GUARDED } from './kinds/guarded.ts'
import { LISTS } from './kinds/lists.ts'
import { OFFICE } from './kinds/office.ts'
import { RECORDS } from './kinds/records.ts'
import type { Kind } from './load/visit.ts'

export const KINDS: readonly Kind[] = [...RECORDS, ...LISTS, ...OFFICE, ...GUARDED, ...BODIES]

const TOTAL = KINDS.reduce((sum, { weight }) => sum + weight, 0)

/** A random kind, by weight. */
export function drawKind(random: Random): Kind {
	let left = random(TOTAL)
	for (const kind of KINDS) {
		left -= kind.weight
		if (left < 0) return kind
	}
	throw new RangeError('weights must be whole numbers above 0')
}
