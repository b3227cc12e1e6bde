/** Every rule by which RFC 9421 makes verification fail, as listed in `rfc9421-vectors.json`, with the logged reason. */
import * as assert from 'uvu/assert'
import { HmacAuthenticator, RestHandler } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { injected, NOW, type Outline, SECRET, type SignedRequest, signed } from './signed-request.ts'
import { VECTORS } from './vectors.ts'

const USUAL = ['"@method"', '"@authority"', '"@path"', '"@query"']

type Case = readonly [request: SignedRequest, reason: RegExp]

function covering(more: string, outline: Outline = {}): SignedRequest {
	return signed({ ...outline, covered: [...USUAL, more] })
}

const DICTIONARY: Outline = { headers: [['X-Dictionary', 'a=1, b=2']] }

const CASES: Readonly<Record<string, readonly Case[]>> = {
	'component identifier listed twice': [[covering('"@method"'), /covered twice/]],
	'component parameter not understood': [
		[covering('"host";sparkling'), /has a disallowed parameter/],
		[covering('"@method";sf'), /has a disallowed parameter/],
	],
	'bs together with sf or key': [
		[covering('"x-dictionary";bs;sf', DICTIONARY), /bs is combined/],
		[covering('"x-dictionary";bs;key="a"', DICTIONARY), /bs is combined/],
	],
	'req on a request': [[covering('"host";req'), /has a disallowed parameter/]],
	'unknown derived component': [[covering('"@weather"'), /no such derived component/]],
	'covered field absent from the message': [[covering('"x-absent"'), /x-absent is missing/]],
	'key names a dictionary member that is absent': [
		[covering('"x-dictionary";key="c"', DICTIONARY), /dictionary member is missing/],
	],
	'query-param names an absent parameter': [
		[covering('"@query-param";name="b"', { url: '/a/x?a=1' }), /query parameter is missing/],
	],
	'query-param names a parameter that occurs more than once': [
		[covering('"@query-param";name="a"', { url: '/a/x?a=1&a=1' }), /query parameter is repeated/],
	],
	'@status in a request': [[covering('"@status"'), /no such derived component/]],
	'@signature-params listed as a covered component': [
		[covering('"@signature-params"'), /no such derived component/],
	],
	'non-ASCII in the base': [[covering('"x-name"', { headers: [['X-Name', 'é']] }), /is not ASCII/]],
	'Signature label without Signature-Input (or no applicable signature)': [
		[relabelled('Signature-Input'), /no label has both/],
		[relabelled('Signature'), /no label has both/],
		[without('Signature-Input'), /no label has both/],
		[without('Signature'), /no label has both/],
	],
	'unknown or untrusted keyid': [
		[signed({ params: { keyid: '"k2"' } }), /no key is known as "k2"/],
		[signed({ secret: Buffer.alloc(32, 8) }), /not that of key "k1"/],
	],
	"alg differs from the key's or configured algorithm": [
		[signed({ params: { alg: '"hmac-sha512"' } }), /alg is not/],
		[signed({ params: { alg: '"ed25519"' } }), /alg is not/],
	],
	'application requirements: required components or parameters missing, expired, too old': [
		...USUAL.map(
			(one): Case => [
				signed({ covered: USUAL.filter((name) => name !== one) }),
				new RegExp(`${one.slice(1, -1)} is not covered`),
			],
		),
		...['created', 'keyid', 'nonce'].map(
			(name): Case => [signed({ params: { [name]: undefined } }), new RegExp(`parameter ${name} is missing`)],
		),
		[signed({ params: { created: String(NOW - 301) } }), /more than 300 s ago/],
		[signed({ params: { created: String(NOW + 61) } }), /ahead of the server's clock/],
		[signed({ params: { expires: String(NOW - 1) } }), /the signature has expired/],
	],
}

function relabelled(header: string): SignedRequest {
	const request = signed()
	const headers = request.headers.map(([name, value]): [string, string] => [
		name,
		name === header ? value.replace('sig=', 'other=') : value,
	])
	return { ...request, headers }
}

function without(header: string): SignedRequest {
	const request = signed()
	return { ...request, headers: request.headers.filter(([name]) => name !== header) }
}

describe('hmac: must-fail cases of RFC 9421', (test) => {
	class Api extends RestHandler {
		override access = { '*': 'user' as const }
		override authenticator = new HmacAuthenticator(this, undefined, 300, {
			keys: { k1: SECRET },
			clock: () => NOW * 1_000,
		})
		get_x() {
			return this.user
		}
	}
	const { server, lines } = asking({ a: new Api() })

	test('the unmodified request is accepted', async () => {
		assert.is((await server.inject(injected(signed()))).status, 200)
	})

	for (const [section, rule] of VECTORS.verifierMustFail) {
		test(`§${section}: ${rule}`, async () => {
			const cases = CASES[rule] ?? []
			assert.ok(cases.length > 0, 'there is a case for it')
			for (const [request, reason] of cases) {
				const before = lines.length
				assert.is((await server.inject(injected(request))).status, 401)
				const [line] = lines.slice(before)
				assert.match(String(line?.fields.err), reason)
			}
		})
	}
})
