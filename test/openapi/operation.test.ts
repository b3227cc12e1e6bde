import * as assert from 'uvu/assert'
import { type Authenticator, anyOf, HmacAuthenticator, TokenAuthenticator } from '../../lib/index.ts'
import { Components } from '../../lib/openapi/components.ts'
import { securityOf } from '../../lib/openapi/operation.ts'
import { describe } from '../helpers/describe.ts'

const USER = { user: true, resources: [] }
const ANYONE = { user: false, resources: [] }

function challenging(challenge?: Record<string, string>): Authenticator {
	return { authenticate: () => null, ...(challenge === undefined ? {} : { challenge }) }
}

/** What opens an operation for users, and the schemes that this names. */
function said(authenticator: Authenticator): unknown {
	const components = new Components()
	const security = securityOf(components, authenticator, USER)
	return [security, components.toJSON().securitySchemes]
}

const tokens = () => undefined

describe('openapi security', (test) => {
	test('is empty without authentication', () => {
		assert.equal(securityOf(new Components(), undefined, ANYONE), [])
	})

	test('is optional where everybody may call', () => {
		assert.equal(securityOf(new Components(), challenging(), ANYONE), [{}, { Bearer: [] }])
	})

	test('names the required permissions', () => {
		const access = { user: true, resources: ['article:write', 'a'] }
		assert.equal(securityOf(new Components(), challenging(), access), [{ Bearer: ['article:write', 'a'] }])
	})

	const bearer = { type: 'http', scheme: 'bearer' }
	const table: [string, Authenticator, unknown][] = [
		['no challenge is Bearer', challenging(), [[{ Bearer: [] }], { Bearer: bearer }]],
		[
			'a challenge without a scheme',
			challenging({ 'WWW-Authenticate': ' , &' }),
			[[{ Bearer: [] }], { Bearer: bearer }],
		],
		[
			'a scheme that is there twice',
			challenging({ 'WWW-Authenticate': 'Bearer realm="a", Bearer realm="b"' }),
			[[{ Bearer: [] }], { Bearer: bearer }],
		],
		['a token', new TokenAuthenticator({ tokens, realm: 'a, b=c' }), [[{ Bearer: [] }], { Bearer: bearer }]],
		[
			'a key in a header',
			new TokenAuthenticator({ tokens, header: 'X-Api-Key' }),
			[[{ ApiKey: [] }], { ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } }],
		],
		[
			'a cookie',
			challenging({ 'WWW-Authenticate': 'Session realm="site", cookie="session"' }),
			[[{ Session: [] }], { Session: { type: 'apiKey', in: 'cookie', name: 'session' } }],
		],
		[
			'several',
			anyOf(
				new TokenAuthenticator({ tokens }),
				new TokenAuthenticator({ tokens, header: 'X-Api-Key' }),
				new TokenAuthenticator({ tokens, header: 'X-Other-Key' }),
			),
			[
				[{ Bearer: [] }, { ApiKey: [] }, { ApiKey2: [] }],
				{
					Bearer: bearer,
					ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
					ApiKey2: { type: 'apiKey', in: 'header', name: 'X-Other-Key' },
				},
			],
		],
		[
			'another scheme, whatever the case of the header',
			challenging({ 'www-authenticate': 'Basic realm="a \\"b\\", Digest c", charset="UTF-8"' }),
			[[{ Basic: [] }], { Basic: { type: 'http', scheme: 'basic' } }],
		],
		[
			'a scheme without parameters before another',
			challenging({ 'WWW-Authenticate': 'Negotiate, DPoP algs="ES256"' }),
			[
				[{ Negotiate: [] }, { Dpop: [] }],
				{ Negotiate: { type: 'http', scheme: 'negotiate' }, Dpop: { type: 'http', scheme: 'dpop' } },
			],
		],
	]
	for (const [name, authenticator, expected] of table) {
		test(`of ${name}`, () => assert.equal(said(authenticator), expected))
	}

	test('of signatures says what to sign, and nothing about the keys', () => {
		const keys = { k1: `${'A'.repeat(43)}=` }
		const [security, schemes] = said(new HmacAuthenticator(undefined, undefined, 300, { keys })) as [
			unknown,
			{ Signature: { type: string; in: string; name: string; description: string } },
		]
		assert.equal(security, [{ Signature: [] }])
		const { description, ...scheme } = schemes.Signature
		assert.equal(scheme, { type: 'apiKey', in: 'header', name: 'Signature' })
		assert.match(description, 'RFC 9421')
		assert.match(description, '"@method" "@authority" "@path" "@query"')
		assert.not.match(description, 'AAAA')
	})
})
