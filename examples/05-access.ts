/**
 * Who may call what, decided before a byte of the body is read.
 *
 *     npx tsx examples/05-access.ts
 */
import { createServer, RestHandler, RoleAcl, TokenAuthenticator, tokenDigest } from '../lib/index.ts' // 'verbena'

// Readable tokens, for the lines below; newToken() creates tokens that can't be guessed.
const tokens = {
	[tokenDigest('token-of-ada')]: { id: 'ada', roles: ['editor'] },
	[tokenDigest('token-of-bob')]: { id: 'bob', roles: ['reader'] },
}
const authenticator = new TokenAuthenticator({ tokens })
const acl = new RoleAcl({ reader: ['note:read'], editor: ['note:*'] })

class Notes extends RestHandler {
	override access = { post_note: ['note:write'], '*': 'user' } // '*': all other methods
	post_note() {
		return `written by ${this.user?.id}`
	}
}

const server = createServer({ api: new Notes() }, { authenticator, acl })
console.log(`Listening at ${(await server.listen(Number(process.env.PORT ?? 3000))).url}`)
/*
$ curl -X POST http://127.0.0.1:3000/api/note
{"success":false,"error":"Unauthorized","code":"unauthorized"}
$ curl -X POST -H 'Authorization: Bearer guessed' http://127.0.0.1:3000/api/note
{"success":false,"error":"The bearer token is not valid","code":"unauthorized"}
$ curl -X POST -H 'Authorization: Bearer token-of-bob' http://127.0.0.1:3000/api/note
{"success":false,"error":"Forbidden","code":"forbidden"}
$ curl -X POST -H 'Authorization: Bearer token-of-ada' http://127.0.0.1:3000/api/note
{"success":true,"data":"written by ada"}
*/
