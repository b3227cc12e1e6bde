/** `App`: what the page shows now, who is asking, and the way from one URL to the next. */
import type { PageData } from '../page-data.ts'
import type { Body } from './body.ts'
import type { Draft } from './draft.ts'
import { dataOf } from './page-source.ts'
import { isPath, pathOf } from './path.ts'
import { NOBODY, type Session } from './session.ts'

/** Ways to see an answer. */
export type View = 'plain' | 'json' | 'headers'

export interface GoOptions {
	/** Whether the URL becomes the address; not where it is already. @default true */
	readonly push?: boolean
	/** Says this to those who listen, in place of what was said before. */
	readonly whisper?: string
	/** Whether what was said stays. */
	readonly keepsNotice?: boolean
}

export class App {
	data: PageData
	session: Session = NOBODY
	/** How a list or a record was last looked at. */
	view: View = 'plain'
	/** What was typed into forms and not sent, by method. */
	readonly drafts = new Map<string, Draft>()
	/** Which forms somebody has opened or closed, by method. */
	readonly unfolded = new Map<string, boolean>()
	readonly #render: (app: App) => void
	#url = address()
	#turn = 0

	constructor(data: PageData, render: (app: App) => void) {
		this.data = data
		this.#render = render
	}

	/**
	 * Path and query of the page that is shown, to which its forms are sent. The address is ahead of it until the next
	 * page is there, and may stay so: a form must not reach another record than the one that is seen.
	 */
	get url(): string {
		return this.#url
	}

	/** Differs once somebody has set out for another page. */
	get turn(): number {
		return this.#turn
	}

	/** How many pages of this history are behind, so that going back stays here. */
	get steps(): number {
		return remembered('steps')
	}

	/** Where a method is sent: what a list is asked means nothing to what is written there. */
	urlFor(method: string): string {
		return method === 'GET' ? this.url : pathOf(this.url)
	}

	/**
	 * What is sent with a body, and with a change: what somebody else has changed since it was read is not written
	 * over. A weak tag matches nothing there (RFC 9110 §13.1.1).
	 */
	headersFor(method: string, body: Body | undefined): [name: string, value: string][] {
		const tag = this.data.answer?.headers.find(([name]) => name.toLowerCase() === 'etag')?.[1]
		const isGuarded = tag !== undefined && !tag.startsWith('W/') && method !== 'POST' && method !== 'QUERY'
		const headers: [string, string][] = []
		if (typeof body === 'string') headers.push(['Content-Type', 'application/json'])
		// Browsers name a form's type themselves, with the boundary of its parts.
		else if (body instanceof File) headers.push(['Content-Type', body.type || 'application/octet-stream'])
		if (isGuarded) headers.push(['If-Match', tag])
		return headers
	}

	/** Shows what is there now, with the focus where it was, else on the heading. */
	render(): void {
		const key = document.activeElement?.getAttribute('data-key')
		this.#render(this)
		const again =
			key === null || key === undefined ? null : document.querySelector(`[data-key=${CSS.escape(key)}]`)
		if (again instanceof HTMLElement) again.focus()
		else this.focusHeading()
	}

	focusHeading(): void {
		document.querySelector('h1')?.focus()
	}

	/**
	 * Goes to a URL: asks for its page with the credentials, and shows that in place of this one. What is no page of
	 * ours is left to the browser, which has no credentials of ours to send.
	 */
	async go(
		url: string,
		{ push = true, whisper = '', keepsNotice = false }: GoOptions = {},
	): Promise<boolean> {
		if (!isPath(url)) return false
		const turn = ++this.#turn
		document.body.setAttribute('aria-busy', 'true')
		const found = await this.#ask(url)
		// Whoever was sent elsewhere meanwhile doesn't want this any more.
		if (turn !== this.#turn) return false
		document.body.removeAttribute('aria-busy')
		if (found === undefined) return false
		if (push) {
			history.replaceState({ steps: this.steps, top: scrollY }, '')
			history.pushState({ steps: this.steps + 1 }, '', found.url)
		} else history.replaceState(history.state, '', found.url)
		const isElsewhere = pathOf(found.url) !== pathOf(this.#url)
		if (isElsewhere) {
			this.drafts.clear()
			this.unfolded.clear()
		}
		this.#url = found.url
		this.data = found.data
		if (!keepsNotice) this.say(whisper)
		this.render()
		// Who comes back finds the place that was left.
		if (isElsewhere) scrollTo(0, remembered('top'))
		return true
	}

	async #ask(url: string): Promise<{ data: PageData; url: string } | undefined> {
		try {
			const answer = await this.session.send(url, { headers: { Accept: 'text/html' } })
			const data = await dataOf(answer)
			const { pathname, search } = new URL(answer.url)
			if (data !== undefined) return { data, url: pathname + search }
			if (this.session.kind === 'none') location.assign(url)
			else
				this.say(
					`${url} answered ${answer.headers.get('content-type') ?? 'nothing'}, which isn’t shown here.`,
				)
		} catch (error) {
			this.say(reasonOf(error))
		}
		return undefined
	}

	/** Sees the page anew, as somebody else. */
	async become(session: Session): Promise<void> {
		this.session = session
		// Where there is no page for them, it still says whose requests are sent.
		if (!(await this.go(this.url, { push: false, whisper: SENT[session.kind] }))) this.render()
		else if (session.kind !== 'none' && this.data.answer?.status === 401)
			this.say('These credentials were refused.')
	}

	/** Says something, to eyes and ears; `more` is there to be found, and isn't read out. */
	say(text: string, ...more: (Node | string)[]): void {
		const [box] = document.getElementById('says')?.children ?? []
		const [status, rest] = box?.children ?? []
		box?.setAttribute('class', more.length > 0 ? 'notice' : '')
		if (status !== undefined) status.textContent = text
		rest?.replaceChildren(...more)
	}
}

const SENT: Readonly<Record<Session['kind'], string>> = {
	none: 'Requests are sent without credentials.',
	bearer: 'Requests are sent with the token.',
	hmac: 'Requests are signed with the key.',
}

/** Path and query that the browser shows. */
export function address(): string {
	return location.pathname + location.search
}

/** A number that the history keeps with its entry; 0 where there is none. */
function remembered(name: 'steps' | 'top'): number {
	const state: unknown = history.state
	if (typeof state !== 'object' || state === null) return 0
	const value: unknown = Reflect.get(state, name)
	return typeof value === 'number' ? value : 0
}

/** What went wrong with a request that has no answer. */
export function reasonOf(error: unknown): string {
	// What `fetch` throws is a TypeError whose words differ by browser.
	const isOurs = error instanceof Error && /signRequest|secret|sign on/.test(error.message)
	return isOurs ? error.message : 'The server can’t be reached. Try again.'
}
