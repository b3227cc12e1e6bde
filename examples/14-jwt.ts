/**
 * A custom authenticator: JSON Web Tokens of an issuer, verified by `jose`.
 *
 *     npx tsx examples/14-jwt.ts
 */
import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import { type Authenticator, createServer, type Request, RestError, RestHandler } from '../lib/index.ts' // 'verbena'

const key = { kty: 'OKP', crv: 'Ed25519', kid: '1', x: 'Rsi4-iSGvLygNgPO4hwDXAg7psYgwDwQ3DykEuYhdZc' }
const keys = createLocalJWKSet({ keys: [key] }) // or createRemoteJWKSet(new URL('https://…/jwks.json'))
// All of them are needed: without `audience`, for example, tokens for other services would pass.
const issued = { issuer: 'https://login.example', audience: 'notes', algorithms: ['EdDSA'] }

class Jwt implements Authenticator {
	async authenticate(request: Request) {
		const [scheme, token = ''] = request.header('Authorization')?.split(' ') ?? []
		if (scheme?.toLowerCase() !== 'bearer') return null
		try {
			const { payload } = await jwtVerify(token, keys, { ...issued, requiredClaims: ['sub', 'exp'] })
			return { id: String(payload.sub), roles: payload.roles } // roles: for RoleAcl
		} catch (error) {
			const isBad = error instanceof errors.JOSEError && /^ERR_(JW[ST]_|JWKS_NO|JOSE_[AN])/.test(error.code)
			throw isBad ? new RestError('unauthorized', 'The token is not valid') : error // no key set: 500
		}
	}
}

class Notes extends RestHandler {
	override access = { '*': 'user' }
	get_me() {
		return this.user
	}
}

const server = createServer({ api: new Notes() }, { authenticator: new Jwt() })
console.log(`Listening at ${(await server.listen(Number(process.env.PORT ?? 3000))).url}`)
/*
$ curl http://127.0.0.1:3000/api/me -H 'Authorization: Bearer eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJyb2xlcyI6WyJlZGl0b3IiXSwic3ViIjoiYWRhIiwiaXNzIjoiaHR0cHM6Ly9sb2dpbi5leGFtcGxlIiwiYXVkIjoibm90ZXMiLCJleHAiOjQxMDI0NDQ4MDB9.wmwS9dYIqzCLFuOA_hl6fP8F_wUP7KPA2voyhPV1rQ4XIPH6vsd58PEElQZY6HKKSCoCk8BmEnb_TcK6zOKoBg'
{"success":true,"data":{"id":"ada","roles":["editor"]}}
*/
