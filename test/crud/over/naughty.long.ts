/** All naughty strings, at every place. */
import { naughtyStrings } from './naughty.ts'
import { STRINGS } from './naughty-strings.ts'

naughtyStrings('naughtylong', STRINGS)
