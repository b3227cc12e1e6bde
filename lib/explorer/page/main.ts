/** The page's program: shows the data that came with the document, and follows links from there. */
import { App, address, ownData } from './app.ts'
import { render } from './render.ts'

export function start(): void {
	const app = new App(ownData(), render)
	render(app)
	addEventListener('popstate', () => {
		// It is also told of a mere change of what stands behind #.
		if (app.url !== address()) void app.go(address(), { push: false })
	})
	document.addEventListener('click', (event) => {
		const link = followed(event)
		if (link === undefined) return
		event.preventDefault()
		void app.go(link.pathname + link.search, { whisper: link.dataset.says ?? '' })
	})
}

/** The link that was clicked, where it is one for us: not to another site, nor into another window. */
function followed(event: MouseEvent): HTMLAnchorElement | undefined {
	const { target, button, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented } = event
	if (defaultPrevented || button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return undefined
	const link = target instanceof Element ? target.closest('a') : null
	if (link === null || link.origin !== location.origin || link.getAttribute('href')?.startsWith('#'))
		return undefined
	return link
}

start()
