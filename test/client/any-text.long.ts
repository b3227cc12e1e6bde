/** All naughty strings through the client. */
import { anyText, STRINGS } from './any-text.ts'

anyText(STRINGS)
