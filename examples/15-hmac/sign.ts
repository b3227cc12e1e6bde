/**
 * Signs a request, and prints the curl command that sends it. The signature is valid for 300 s, and once.
 *
 *     npx tsx examples/15-hmac/sign.ts GET 'http://127.0.0.1:3000/api/me?a=1' | sh
 *     npx tsx examples/15-hmac/sign.ts POST http://127.0.0.1:3000/api/note '{"text":"Sage"}' 'If-Match: "1"'
 *
 * Pass headers that must be signed (`Idempotency-Key`, `If-Match`) to this program, not to curl. KEY_ID and SECRET
 * replace the example's key.
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

/** Quotes a word for a shell. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`
}
