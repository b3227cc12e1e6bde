/** Imports node:http, listens, and reports that. */
import { createServer } from 'node:http'

createServer((_req, res) => res.end()).listen(0, '127.0.0.1', () => process.stdout.write('listening'))
