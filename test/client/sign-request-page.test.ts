/** `signRequest` in a real browser, whose fetch and WebCrypto are not Node's. */
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { HmacAuthenticator, RestHandler } from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')

class Api extends RestHandler {
	override access = { get_open: 'anyone', '*': 'user' } as const
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { k1: SECRET } })
	get_open() {
		return 'open'
	}
	get_me() {
		return this.user?.id
	}
	post_size() {
		return this.request.rawBody.length
	}
}

/** The page's script: a GET, bodies of several kinds, a non-extractable key, and one request sent twice. */
const SCRIPT = `(async () => {
	const { signRequest } = verbena
	const key = { id: 'k1', secret: '${SECRET}' }
	const bytes = Uint8Array.from(atob(key.secret), (character) => character.charCodeAt(0))
	const algorithm = { name: 'HMAC', hash: 'SHA-256' }
	const secret = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
	const form = new FormData()
	form.append('file', new Blob(['abc']), 'a.txt')
	const send = async (path, init, by = key) => {
		const answer = await fetch(await signRequest(new Request(path, init), by))
		return answer.status
	}
	const twice = await signRequest(new Request('/api/me'), key)
	return [
		await send('/api/me?a=%20b&c=d+e'),
		await send('/api/me', undefined, { id: 'k1', secret }),
		await send('/api/size', { method: 'POST' }),
		await send('/api/size', { method: 'POST', body: 'thé' }),
		await send('/api/size', { method: 'POST', body: new Uint8Array(100_000) }),
		await send('/api/size', { method: 'POST', body: form }),
		await send('/api/size', { method: 'POST', body: new URLSearchParams({ a: 'b' }), headers: { 'If-Match': '"1"' } }),
		(await fetch(twice.clone())).status,
		(await fetch(twice)).status,
	]
})()`

describe('signRequest: in a browser', (test) => {
	inChromium(test, 'signRequest')('a request it signs is accepted, and only once', async () => {
		const { outputFiles } = await build({
			entryPoints: [`${ROOT}/lib/client/index.ts`],
			...{ bundle: true, write: false, format: 'iife', globalName: 'verbena', platform: 'browser' },
		})
		const browser = await launch()
		try {
			await listening({ api: new Api() }, {}, async ({ url, log }) => {
				const page = await browser.newPage()
				await page.goto(`${url}/api/open`)
				await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
				const statuses: unknown = await page.evaluate(SCRIPT)
				const reasons = log.lines.map(({ fields }) => String(fields.err))
				assert.equal(statuses, [200, 200, 200, 200, 200, 200, 200, 200, 401], reasons.join('\n'))
			})
		} finally {
			await browser.close()
		}
	})
})
