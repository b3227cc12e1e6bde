/** The HTML of a page: readable without scripts, and with the data from which the page's script makes the rest. */
import { PAGE_SCRIPT, PAGE_STYLE } from './assets.ts'
import type { AnswerData, MapData, PageData } from './page-data.ts'
import { prettyJson } from './pretty-json.ts'

export function documentOf(data: PageData, nonce: string): string {
	const { url, answer, map } = data
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${pathOf(url)} · API explorer`)}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header id="top">${crumbs(data)}</header>
<div id="says"><div><p role="status"></p><div></div></div></div>
<main id="main" tabindex="-1">
<h1>${escaped(pathOf(url))}</h1>
<noscript><p>Without scripts this page shows what was answered, and no forms.</p></noscript>
${answer === undefined ? '' : answered(answer)}${map === undefined ? '' : mapped(map)}
</main>
<script type="application/json" id="data">${dataBlock(data)}</script>
<script nonce="${nonce}">${PAGE_SCRIPT}</script>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&#39;',
}

/** Text for markup or for a quoted attribute. */
export function escaped(text: string): string {
	return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}

/** JSON for a script element: nothing in it can end the element or begin a comment. */
export function dataBlock(data: PageData): string {
	return JSON.stringify(data).replace(
		/[<>&\u2028\u2029]/g,
		(char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
	)
}

function pathOf(url: string): string {
	return url.split('?', 1)[0] ?? url
}

function crumbs({ crumbs }: PageData): string {
	const items = crumbs.map(({ text, url }, at) => {
		const name = escaped(at === 0 ? 'API' : text)
		return `<li>${url === undefined ? name : `<a href="${escaped(url)}">${name}</a>`}</li>`
	})
	return `<nav aria-label="Path"><ol>${items.join('')}</ol></nav>`
}

function answered({ status, reason, headers, body, note }: AnswerData): string {
	const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
	const remark = note === undefined ? '' : `<p>${escaped(note)}</p>`
	return `<p>${status} ${escaped(reason)}</p>
<pre>${escaped(prettyJson(body))}</pre>
${remark}<pre>${escaped(lines)}</pre>
`
}

function mapped({ handlers }: MapData): string {
	const items = handlers
		.flatMap(({ routes }) => routes)
		.map(({ path, operations }) => {
			const methods = operations.map(({ method }) => method).join(' ')
			const isPlain = !path.includes('{') && operations.some(({ method }) => method === 'GET')
			const text = escaped(path)
			return `<li>${methods} ${isPlain ? `<a href="${text}">${text}</a>` : text}</li>`
		})
	return `<ul>${items.join('')}</ul>
`
}
