/** One in ten of the strings of `naughty.long.ts`, and all of our own. */
import { naughtyStrings } from './naughty.ts'
import { OWN, STRINGS } from './naughty-strings.ts'

naughtyStrings(
	'naughty',
	STRINGS.filter((text, at) => at % 10 === 0 || OWN.includes(text)),
)
