/** What an entry is made of: the refusals that all caches make alike, and their words. */
import * as assert from 'uvu/assert'
import { checkKey, toMilliseconds, toText } from '../../lib/cache/entry.ts'
import { describe } from '../helpers/describe.ts'
import { thrownBy } from '../helpers/thrown-by.ts'
