/** All texts. */
import { anyText, STRINGS } from './any-text.ts'

anyText(STRINGS)
