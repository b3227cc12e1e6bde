/**
 * Signed requests: client and server share a secret that is never sent. `sign.ts` signs for curl.
 *
 *     npx tsx examples/15-hmac/main.ts
 */
import { createServer, HmacAuthenticator, RestHandler } from '../../lib/index.ts' // 'verbena'

const keys = { ada: 'cfVyRB4ARuA+wr8b1X1Ybo+8h9B4HUsh5tEEuN1dZ08=' } // create yours with `openssl rand -base64 32`

class Notes extends RestHandler {
	// A signature is valid for 300 s, and for one request.
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys })
	override access = { '*': 'user' }
	get_me() {
		return this.user?.id
	}
	post_note() {
		return `${this.user?.id} wrote ${this.post.text}`
	}
}

const server = createServer({ api: new Notes() })
console.log(`Listening at ${(await server.listen(Number(process.env.PORT ?? 3000))).url}`)
/*
$ curl http://127.0.0.1:3000/api/me
{"success":false,"error":"Unauthorized","code":"unauthorized"}
$ npx tsx examples/15-hmac/sign.ts GET http://127.0.0.1:3000/api/me | sh
{"success":true,"data":"ada"}
$ npx tsx examples/15-hmac/sign.ts POST http://127.0.0.1:3000/api/note '{"text":"Sage"}'
curl -g -X POST 'http://127.0.0.1:3000/api/note' \
  -H 'content-digest: sha-256=:…:' \
  -H 'content-type: application/json' \
  -H 'signature: sig=:…:' \
  -H 'signature-input: sig=("@method" …);created=…;keyid="ada";nonce="…";alg="hmac-sha256"' \
  --data-raw '{"text":"Sage"}'
$ npx tsx examples/15-hmac/sign.ts POST http://127.0.0.1:3000/api/note '{"text":"Sage"}' | sh
{"success":true,"data":"ada wrote Sage"}
*/
