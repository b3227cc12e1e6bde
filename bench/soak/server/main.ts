/** The program of a server process: serves the unmodified site. */
import { serve } from './serve.ts'
import { siteOf } from './site.ts'

await serve(siteOf)
