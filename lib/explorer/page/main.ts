/** Entry point of the page's script: renders the embedded data, then handles links and the history. */
import { App, address, ownData } from './app.ts'
import { render } from './render.ts'

export function start(): void {
	const app = new App(ownData(), render)
	render(app)
	addEventListener('popstate', () => {
		// A change of the hash alone fires this event, too.
		if (app.url !== address()) void app.go(address(), { push: false })
	})
	document.addEventListener('click', (event) => {
		const link = clickedLink(event)
		if (link === undefined) return
		event.preventDefault()
		void app.go(link.pathname + link.search, { announcement: link.dataset.announcement ?? '' })
	})
}

/** The link that was clicked, if it is to this origin and opens in this window. */
function clickedLink(event: MouseEvent): HTMLAnchorElement | undefined {
	const { target, button, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented } = event
	if (defaultPrevented || button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return undefined
	const link = target instanceof Element ? target.closest('a') : null
	if (link === null || link.origin !== location.origin || link.getAttribute('href')?.startsWith('#'))
		return undefined
	return link
}

start()
