/** User content is shown as text, wherever it stands: in the document, its data, its title. */
import * as assert from 'uvu/assert'
import { escapeHtml, scriptJson } from '../../lib/explorer/document.ts'
import { CrudHandler, createServer, MemoryModel, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { dataIn, open } from './page-of.ts'

/** Each would be markup, end an element, or start a script, if it weren't escaped. */
const MARKUP = [
	'<script>document.title="owned"</script>',
	'</script><script>document.title="owned"</script>',
	'"><img src=x onerror=document.title="owned">',
	"'><svg/onload=document.title='owned'>",
	'</pre></noscript></title><iframe srcdoc="<script>top.document.title=1</script>">',
	'<!--<script>',
	']]><b>',
	'\u2028\u2029</style><style>*{display:none}',
	'&lt;script&gt;&#x3C;b&#x3E;',
	'$\u007bdocument.title="owned"}',
]

class Echo extends RestHandler {
	get_text() {
		return { [this.query.text ?? '']: this.query.text }
	}
	get_header() {
		this.header('X-Text', this.query.text ?? '')
		return null
	}
	get_error() {
		return this.error(this.query.text ?? '', 422)
	}
}

const articles = new CrudHandler(
	new MemoryModel('<b>articles', {
		key: 'id',
		fields: {
			id: 'integer',
			'title<script>': 'text',
			state: { type: 'text', choices: MARKUP, nullable: true },
		},
	}),
	{ visible: 'all', updatable: ['title<script>', 'state'], allow: ['list', 'read', 'create', 'update'] },
)
const server = createServer(
	{ echo: new Echo(), 'things/<img>': articles },
	{ explorer: true, logger: new Log() },
)

/** The names of a document's elements, except those in its own script and style. */
function elements(html: string): string[] {
	const outside = html
		.replace(/<style nonce="[^"]*">[\s\S]*?<\/style>/, '')
		.replace(/<script nonce="[^"]*">[\s\S]*?<\/script>/, '')
	return [...outside.matchAll(/<([a-z!][\w-]*)/gi)].map(([, name = '']) => name)
}

const USUAL = [
	...[
		'!doctype',
		'html',
		'head',
		'meta',
		'meta',
		'meta',
		'title',
		'link',
		'body',
		'a',
		'header',
		'nav',
		'ol',
	],
	...['div', 'div', 'p', 'div', 'main', 'h1', 'noscript', 'p', 'p', 'pre', 'pre', 'script'],
]

describe('explorer: markup', (test) => {
	for (const text of MARKUP) {
		const query = `text=${encodeURIComponent(text)}`
		const isHeader = /^[\x20-\x7e]*$/.test(text)
		test(`stays text in bodies, headers, errors, paths and queries: ${JSON.stringify(text)}`, async () => {
			const segment = encodeURIComponent(text)
			const urls = [
				`/echo/text?${query}`,
				`/echo/error?${query}`,
				...(isHeader ? [`/echo/header?${query}`] : []),
				`/echo/${segment}`,
				`/echo/${segment.replaceAll('%3C', '<').replaceAll('%22', '"')}?<script>"'=`,
				`/things/%3Cimg%3E/${segment}`,
			]
			for (const url of urls) {
				const reply = await open(server, url)
				const found = elements(reply.text()).filter((name) => name !== 'li' && name !== 'a')
				assert.equal(
					found,
					USUAL.filter((name) => name !== 'a'),
					url,
				)
				assert.not.match(reply.text(), /<[^>]*\son(?:error|load)=/i)
				// In the embedded data it is unchanged.
				if (url.startsWith('/echo/text')) assert.match(dataIn(reply).answer?.body ?? '', JSON.stringify(text))
			}
		})
	}

	test('stored values, names of fields, choices and tables stay text', async () => {
		for (const title of MARKUP) {
			const body = { 'title<script>': title, state: title }
			const made = await server.inject({ method: 'POST', url: '/things/%3Cimg%3E', body })
			assert.is(made.status, 201)
		}
		for (const url of ['/things/%3Cimg%3E', '/things/%3Cimg%3E/1', '/']) {
			const reply = await open(server, url)
			const allowed = new Set([...USUAL, 'li', 'ul'])
			assert.equal(
				elements(reply.text()).filter((name) => !allowed.has(name)),
				[],
			)
			assert.is(elements(reply.text()).filter((name) => name === 'script').length, 1)
		}
	})

	test('the map without scripts shows paths as text, in lines and links', async () => {
		class Odd extends RestHandler {
			override customRoutes = { 'GET <b>bold': 'page', 'POST a"onmouseover="b': 'page', "GET it's": 'page' }
			page() {}
		}
		const odd = createServer({ '<img>': new Odd() }, { explorer: true, logger: new Log() })
		const { text } = await odd.inject({ url: '/', headers: { accept: 'text/html' } })
		const html = text()
		const list = /<ul>.*<\/ul>/.exec(html)?.[0] ?? ''
		assert.equal([...new Set(elements(list))], ['ul', 'li', 'a'])
		assert.not.match(list, /<img|<b>|"onmouseover/)
		// Most of a path is percent-encoded; what isn't is escapeHtml.
		assert.match(list, `<a href="/%3Cimg%3E/it&#39;s">/%3Cimg%3E/it&#39;s</a>`)
	})

	test('every character that means something is escapeHtml', () => {
		assert.is(
			escapeHtml(`<a href="x" title='y'>&</a>`),
			'&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;&lt;/a&gt;',
		)
	})

	test('embedded data cannot close its element, and is read back unchanged', async () => {
		const data = dataIn(await open(server, `/echo/text?text=${encodeURIComponent(MARKUP.join())}`))
		const block = scriptJson(data)
		assert.not.match(block, /[<>&\u2028\u2029]/)
		assert.equal(JSON.parse(block), data)
	})

	test("a link's URL is a path of this server, whatever was requested", async () => {
		for (const url of ['//evil.example/echo', '/\\evil.example/echo', 'javascript:alert(1)', '/echo//text']) {
			const reply = await open(server, url)
			const hrefs = [...reply.text().matchAll(/\shref="([^"]*)"/g)].map(([, href = '']) => href)
			assert.equal(
				hrefs.filter((href) => !/^\/(?![/\\])|^#main$|^data:,$/.test(href)),
				[],
				url,
			)
		}
	})

	test('no host name sent by a client appears', async () => {
		const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
		assert.not.match((await open(server, '/echo/text', headers)).text(), 'evil.example')
		assert.not.match((await open(server, 'http://evil.example/echo/text')).text(), 'evil.example')
	})
})
