/**
 * refine on Verbena: one server sends the page, its program, and the API. The records are kept in memory.
 *
 *     cd examples/refine && npm ci && npm start
 *     PORT=8080 npm start
 */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createServer, RestHandler, reply } from '../../lib/index.ts' // you write 'verbena'
import { blogHandlers } from '../react-admin/blog.ts'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Blog</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module" src="app.js"></script>
</html>
`
const POLICY =
	"default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

class Admin extends RestHandler {
	override customRoutes = { 'GET app.js': 'program' }

	private readonly app: Buffer

	constructor(app: Buffer) {
		super()
		this.app = app
	}

	get__default() {
		return reply(Buffer.from(PAGE), {
			headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY },
		})
	}

	program() {
		return reply(this.app, { headers: { 'Content-Type': 'text/javascript; charset=utf-8' } })
	}
}

async function bundle(): Promise<Buffer> {
	const { outputFiles } = await build({
		...{ entryPoints: [fileURLToPath(new URL('app.tsx', import.meta.url))], bundle: true, write: false },
		...{ format: 'esm', platform: 'browser', target: 'es2022', jsx: 'automatic', minify: true },
		define: { 'process.env.NODE_ENV': '"production"' },
	})
	return Buffer.concat(outputFiles.map(({ contents }) => contents))
}

const server = createServer({ '': new Admin(await bundle()), ...blogHandlers() })
const { url } = await server.listen(Number(process.env.PORT ?? 3000))
console.log(`The articles are at ${url}`)
const stop = () => void server.close()
process.once('SIGINT', stop).once('SIGTERM', stop)
