/** One in four of the texts of `any-text.long.ts`. */
import { anyText, STRINGS } from './any-text.ts'

anyText(STRINGS.filter((_, at) => at % 4 === 0))
