/** All of our own naughty strings, and one in three of the public list, others in each run, at every place. */
import { naughtyStrings } from './naughty.ts'
import { sampled } from './naughty-strings.ts'

naughtyStrings('naughtylong', sampled('naughty strings'))
