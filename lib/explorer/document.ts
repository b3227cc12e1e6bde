/** The HTML of a page: readable without scripts; the page's script builds the rest from the embedded data. */
import { pathOf } from '../reply/link.ts'
import { PAGE_SCRIPT, PAGE_STYLE } from './assets.ts'
import type { AnswerData, MapData, PageData } from './page-data.ts'
import { prettyJson } from './pretty-json.ts'

export function documentOf(data: PageData, nonce: string): string {
	const { url, answer, map } = data
	const path = escapeHtml(pathOf(url) || '/')
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${path} · API explorer</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header id="top">${crumbsHtml(data)}</header>
<div id="notices"><div><p role="status"></p><div></div></div></div>
<main id="main" tabindex="-1">
<h1>${path}</h1>
<noscript><p>Without scripts this page shows what was answered, and no forms.</p></noscript>
${answer === undefined ? '' : answerHtml(answer)}${map === undefined ? '' : mapHtml(map)}
</main>
<script type="application/json" id="data">${scriptJson(data)}</script>
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

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '')
}

/** JSON for a script element, escaped so that it can't end the element or start a comment. */
export function scriptJson(data: PageData): string {
	return JSON.stringify(data).replace(
		/[<>&\u2028\u2029]/g,
		(char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
	)
}

function crumbsHtml({ crumbs }: PageData): string {
	const items = crumbs.map(({ text, url }, at) => {
		const name = escapeHtml(at === 0 ? 'API' : text)
		return `<li>${url === undefined ? name : `<a href="${escapeHtml(url)}">${name}</a>`}</li>`
	})
	return `<nav aria-label="Path"><ol>${items.join('')}</ol></nav>`
}

function answerHtml({ status, reason, headers, body, note }: AnswerData): string {
	const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
	const remark = note === undefined ? '' : `<p>${escapeHtml(note)}</p>`
	return `<p>${status} ${escapeHtml(reason)}</p>
<pre>${escapeHtml(prettyJson(body))}</pre>
${remark}<pre>${escapeHtml(lines)}</pre>
`
}

function mapHtml({ handlers }: MapData): string {
	const items = handlers
		.flatMap(({ routes }) => routes)
		.map(({ path, operations }) => {
			const methods = operations.map(({ method }) => method).join(' ')
			const isPlain = !path.includes('{') && operations.some(({ method }) => method === 'GET')
			const text = escapeHtml(path)
			return `<li>${methods} ${isPlain ? `<a href="${text}">${text}</a>` : text}</li>`
		})
	return `<ul>${items.join('')}</ul>
`
}
