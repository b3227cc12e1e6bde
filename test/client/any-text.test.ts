/** One in twelve of the naughty strings of `any-text.long.ts`. */
import { anyText, STRINGS } from './any-text.ts'

anyText(STRINGS.filter((_, at) => at % 12 === 0))
