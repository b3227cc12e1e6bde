/** `client()` in a real browser: a program that imports only a handler's type, bundled for a page. */
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'
import { answering, text } from './answering.ts'
import { Notes } from './notes.ts'

/** The page's script: calls of each kind. */
const PROGRAM = `
import { ApiError, client } from './lib/client/index.ts'
import type { Notes } from './test/client/notes.ts'

const api = client<Notes>('/blog/api')
Object.assign(globalThis, {
	async calls() {
		const bytes = await api.get.bytes()
		const refusal = await api.get.note('none').catch((error: unknown) => error)
		const posted = await api.post.note({ body: { text: 'ä' } })
		await (await api).delete.note('5')
		return [
			await api.get.note('a/b ü?'),
			posted,
			await api.query.notes({ body: [1] }),
			await api.get['part/%s/of-%d']('x', 2),
			[bytes instanceof Blob, await bytes.text()],
			refusal instanceof ApiError ? [refusal.status, refusal.code, refusal.message] : refusal,
		]
	},
	async across(origin: string) {
		const api = client<Notes>(origin)
		const { data, headers, meta } = await api.get.bytes().response()
		return [data.type, await data.text(), headers.get('ETag'), headers.get('X-Content-Type-Options'), meta]
	},
})
`

describe('client(): in a page', (test) => {
	async function bundled(): Promise<{ readonly script: string; readonly files: readonly string[] }> {
		const { outputFiles, metafile } = await build({
			stdin: { contents: PROGRAM, resolveDir: ROOT, loader: 'ts' },
			...{ bundle: true, write: false, metafile: true, format: 'iife', platform: 'browser' },
		})
		return { script: outputFiles[0]?.text ?? '', files: Object.keys(metafile.inputs) }
	}

	test('imports nothing of the server but a type', async () => {
		const { files } = await bundled()
		assert.equal(
			files.filter((file) => !/^(?:lib\/(?:client|wire)\/|<stdin>$)/.test(file)),
			[],
		)
	})

	inChromium(test, 'client()')('results are as in Node', async () => {
		const { script } = await bundled()
		const browser = await launch()
		try {
			await listening({ 'blog/api': new Notes() }, {}, async ({ url }) => {
				const page = await browser.newPage()
				await page.goto(`${url}/blog/api/note/5`)
				await page.addScriptTag({ content: script })
				assert.equal(await page.evaluate('calls()'), [
					{ id: 'a/b ü?', written: '1970-01-01T00:00:00.000Z' },
					{ text: 'ä' },
					{ method: 'QUERY', body: [1] },
					{ name: 'x', of: 2 },
					[true, 'bytes'],
					[404, 'not_found', 'No such note'],
				])
			})
		} finally {
			await browser.close()
		}
	})

	inChromium(test, 'client()')(
		'reads texts of other origins, with the headers that CORS exposes',
		async () => {
			const { script } = await bundled()
			const browser = await launch()
			try {
				await listening({ 'blog/api': new Notes() }, {}, ({ url }) =>
					answering(async (site) => {
						const own = { 'Content-Type': 'text/plain', ETag: '"7"', 'X-Content-Type-Options': 'nosniff' }
						const page = await browser.newPage()
						await page.goto(`${url}/blog/api/note/5`)
						await page.addScriptTag({ content: script })
						const cors = { 'Access-Control-Allow-Origin': '*' }
						site.answer = text('there', 200, { ...own, ...cors })
						const hidden = ['text/plain', 'there', null, null, {}]
						assert.equal(await page.evaluate(`across(${JSON.stringify(site.origin)})`), hidden)
						site.answer = text('there', 200, { ...own, ...cors, 'Access-Control-Expose-Headers': 'ETag' })
						const shown = ['text/plain', 'there', '"7"', null, {}]
						assert.equal(await page.evaluate(`across(${JSON.stringify(site.origin)})`), shown)
					}),
				)
			} finally {
				await browser.close()
			}
		},
	)
})
