/**
 * Signs a request, and prints the line of curl that sends it: for the next 300 s, and once.
 *
 *     npx tsx examples/15-hmac/sign.ts GET 'http://127.0.0.1:3000/api/me?a=1' | sh
 *     npx tsx examples/15-hmac/sign.ts POST http://127.0.0.1:3000/api/note '{"text":"Sage"}' 'If-Match: "1"'
 *
 * Headers that must be signed (`Idempotency-Key`, `If-Match`) are named here, not to curl. KEY_ID and SECRET sign
 * with another key than the example's.
 */
import { signRequest } from '../../lib/client/index.ts' // 'verbena/client'

const { KEY_ID = 'ada', SECRET = 'cfVyRB4ARuA+wr8b1X1Ybo+8h9B4HUsh5tEEuN1dZ08=' } = process.env
const [method = 'GET', url = 'http://127.0.0.1:3000/api/me', body = '', ...lines] = process.argv.slice(2)

const headers = new Headers(body === '' ? {} : { 'Content-Type': 'application/json' })
for (const line of lines) headers.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1))
const request = new Request(url, { method, headers, ...(body === '' ? {} : { body }) })
const signed = await signRequest(request, { id: KEY_ID, secret: SECRET })

const words = [...signed.headers].map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
if (body !== '') words.push(`--data-raw ${quoted(body)}`)
// The URL as it was signed: a Request encodes what curl would leave as it is.
console.log([`curl -g -X ${signed.method} ${quoted(signed.url)}`, ...words].join(' \\\n  '))

/** For a shell. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`
}
