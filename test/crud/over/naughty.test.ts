/** One in sixty of all naughty strings; `naughty.long.ts` has more. */
import { naughtyStrings } from './naughty.ts'
import { STRINGS } from './naughty-strings.ts'

naughtyStrings(
	'naughty',
	STRINGS.filter((_, at) => at % 60 === 0),
)
