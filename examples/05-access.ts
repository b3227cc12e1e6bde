/**
 * Who may call what, decided before a byte of the body is read.
 *
 *     npx tsx examples/05-access.ts
 */
import { createServer, type Request, RestError, RestHandler, RoleAcl } from '../lib/index.ts' // 'verbena'

const users = new Map([
	['key-of-ada', { id: 'ada', roles: ['editor'] }],
	['key-of-bob', { id: 'bob', roles: ['reader'] }],
])

const authenticator = {
	authenticate(request: Request) {
		const sent = request.header('Authorization')
		if (sent === undefined) return null // nobody: what is open to anyone still answers
		const user = users.get(sent.replace(/^Bearer /i, ''))
		if (user === undefined) throw new RestError('unauthorized', 'This key is not known')
		return user
	},
}

class Notes extends RestHandler {
	override access = { post_note: ['note:write'], '*': 'user' } // '*': the methods not named
	post_note() {
		return `written by ${this.user?.id}`
	}
}

const acl = new RoleAcl({ reader: ['note:read'], editor: ['note:*'] })
const server = createServer({ api: new Notes() }, { authenticator, acl })
console.log(`Listening at ${(await server.listen(Number(process.env.PORT ?? 3000))).url}`)
/*
$ curl -X POST http://127.0.0.1:3000/api/note
{"success":false,"error":"Unauthorized","code":"unauthorized"}
$ curl -X POST -H 'Authorization: Bearer key-of-bob' http://127.0.0.1:3000/api/note
{"success":false,"error":"Forbidden","code":"forbidden"}
$ curl -X POST -H 'Authorization: Bearer key-of-ada' http://127.0.0.1:3000/api/note
{"success":true,"data":"written by ada"}
*/
