/** The program of a server process: serves the site as it is. */
import { serve } from './serve.ts'
import { siteOf } from './site.ts'

await serve(siteOf)
