/** Two other implementations of RFC 9421: we accept what they sign, and they verify what we sign. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createSignature, type RequestDescriptor, verifySignature } from 'http-message-sig'
import { httpbis } from 'http-message-signatures'
import * as assert from 'uvu/assert'
import { signRequest } from '../../../lib/client/index.ts'
import { HmacAuthenticator, RestHandler } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'

const SECRET = randomBytes(32)
const mac = (data: Uint8Array): Buffer => createHmac('sha256', SECRET).update(data).digest()

class Api extends RestHandler {
	override access = { '*': 'user' } as const
	get_echo() {
		return [this.user?.id, this.query]
	}
	post_echo() {
		return [this.user?.id, this.body ?? null]
	}
	put_echo() {
		return [this.user?.id, this.body ?? null]
	}
}

interface Message {
	readonly method: string
	readonly url: string
	readonly headers: Record<string, string>
	readonly body?: string
}

interface Signer {
	readonly name: string
	sign(message: Message, names: readonly string[]): Promise<Record<string, string>>
	verify(message: Message, names: readonly string[]): Promise<boolean>
}

const seconds = (): number => Math.floor(Date.now() / 1_000)

const signers: readonly Signer[] = [
	{
		name: 'http-message-signatures',
		async sign(message, names) {
			const { headers } = await httpbis.signMessage(
				{
					name: 'theirs',
					fields: [...names],
					params: ['created', 'nonce', 'keyid', 'alg', 'expires'],
					paramValues: {
						nonce: randomBytes(16).toString('base64url'),
						expires: new Date(Date.now() + 60_000),
					},
					key: { id: 'k1', alg: 'hmac-sha256', sign: async (data) => mac(data) },
				},
				message,
			)
			return headers as Record<string, string> // of a message whose headers are text
		},
		async verify(message, names) {
			const keyLookup = async (): Promise<{
				id: string
				algs: string[]
				verify(data: Buffer, signature: Buffer): Promise<boolean>
			}> => ({
				id: 'k1',
				algs: ['hmac-sha256'],
				verify: async (data, signature) => mac(data).equals(signature),
			})
			const requiredParams = ['created', 'keyid', 'nonce', 'alg']
			return (
				(await httpbis.verifyMessage({ keyLookup, requiredParams, requiredFields: [...names] }, message)) ===
				true
			)
		},
	},
	{
		name: 'http-message-sig',
		async sign(message, names) {
			const { signature, signatureInput } = await createSignature(descriptorOf(message), {
				label: 'theirs',
				components: names,
				parameters: {
					created: seconds(),
					keyid: 'k1',
					nonce: randomBytes(16).toString('base64'),
					tag: 'a b',
				},
				signer: { algorithm: 'hmac-sha256', sign: mac },
			})
			return { ...message.headers, Signature: signature, 'Signature-Input': signatureInput }
		},
		async verify(message, names) {
			const { label } = await verifySignature(descriptorOf(message), {
				policy: {
					algorithms: ['hmac-sha256'],
					requiredComponents: names,
					requiredParameters: ['created', 'keyid', 'nonce', 'alg'],
				},
				resolveVerifier: () => ({
					algorithm: 'hmac-sha256',
					verify: (data, signature) => mac(data).equals(signature),
				}),
			})
			return label === 'sig'
		},
	},
]

function descriptorOf({ method, url, headers }: Message): RequestDescriptor {
	const fields = Object.entries(headers).map(([name, value]) => ({ name: name.toLowerCase(), value }))
	return { kind: 'request', method, targetUri: url, fields }
}

const TARGET = ['@method', '@authority', '@path', '@query']
const BODY = ['content-type', 'content-digest']
const body = '{"title":"Thé"}'

interface Sample {
	readonly method: string
	readonly target: string
	readonly headers?: Record<string, string>
	readonly body?: string
	readonly names: readonly string[]
}

const samples: readonly Sample[] = [
	{ method: 'GET', target: '/api/echo', names: TARGET },
	{ method: 'GET', target: '/api/echo?a=1&b=%C3%A9%20+', names: TARGET },
	{ method: 'GET', target: '/api/echo?a=1', names: ['@target-uri', '@method', '@authority'] },
	{ method: 'POST', target: '/api/echo?', body, names: [...TARGET, ...BODY] },
	{ method: 'PUT', target: '/api/echo?x', body, names: [...BODY, '@method', '@target-uri'] },
	{
		method: 'POST',
		target: '/api/echo',
		headers: { 'X-HTTP-Method-Override': 'PUT', 'If-Match': '"1"', 'Idempotency-Key': '"a"' },
		body,
		names: [...TARGET, ...BODY, 'x-http-method-override', 'if-match', 'idempotency-key'],
	},
]

function headersOf(sample: Sample): Record<string, string> {
	if (sample.body === undefined) return { ...sample.headers }
	const digest = createHash('sha512').update(sample.body).digest('base64')
	return { 'Content-Type': 'application/json', 'Content-Digest': `sha-512=:${digest}:`, ...sample.headers }
}

async function send(message: Message): Promise<string> {
	const { method, url, headers } = message
	const answer = await fetch(url, {
		method,
		headers,
		...(message.body === undefined ? {} : { body: message.body }),
	})
	return `${answer.status} ${await answer.text()}`
}

describe('hmac: interoperability', (test) => {
	const authenticator = new HmacAuthenticator(undefined, undefined, 300, { keys: { k1: SECRET } })

	for (const { name, sign } of signers) {
		test(`a request signed by ${name} is accepted, once`, () =>
			listening({ api: new Api() }, { authenticator }, async ({ url, log }) => {
				for (const sample of samples) {
					const { method, target, names } = sample
					const message = { method, url: `${url}${target}`, headers: headersOf(sample) }
					const headers = await sign(message, names)
					const request = { ...message, headers, ...(sample.body === undefined ? {} : { body: sample.body }) }
					assert.match(await send(request), /^200 .*"k1"/, `${target} ${log.lines.at(-1)?.fields.err}`)
					assert.match(await send(request), /^401 /)
					assert.match(
						await send({
							...request,
							headers: await sign({ ...message, url: `${url}/api/echo?other` }, names),
						}),
						/^401 /,
					)
				}
			}))
	}

	for (const { name, verify } of signers) {
		test(`a request signed by us is verified by ${name}`, async () => {
			for (const { method, target, headers = {}, body } of samples) {
				const request = new Request(`https://API.example.com:443${target}`, {
					method,
					headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
					...(body === undefined ? {} : { body }),
				})
				const signed = await signRequest(request, { id: 'k1', secret: SECRET })
				const names = [...TARGET, ...(body === undefined ? [] : BODY)]
				const message = { method, url: signed.url, headers: Object.fromEntries(signed.headers) }
				assert.ok(await verify(message, names), target)
				const other = { ...message, url: `${signed.url}&z` }
				assert.not(await verify(other, names).catch(() => false))
			}
		})
	}
})
