/** All of our own naughty strings, and a different third of the public list in each run, at every place. */
import { naughtyStrings } from './naughty.ts'
import { sampled } from './naughty-strings.ts'

naughtyStrings('naughtylong', sampled('naughty strings'))
