/** `App`: what the page shows, with which credentials, what was typed into its forms, and how it goes to another URL. */
import type { PageData } from '../page-data.ts'
import type { Body } from './curl.ts'
import { isPath, pathOf } from './path.ts'
import { NOBODY, type Session } from './session.ts'

/** What a body is made from: controls for its fields, its JSON, or a file. */
export type BodyMode = 'fields' | 'json' | 'file'

/** What was typed into a form, kept while the page is rendered again. */
export interface Draft {
	readonly mode: BodyMode
	/** By field, the state of its control; without untouched ones. */
	readonly fields: ReadonlyMap<string, string>
	readonly json: string
	readonly file: FileDraft | undefined
}

export interface FileDraft {
	readonly files: FileList | null
	/** The name of the file's part of a form; empty where the bytes are the body. */
	readonly part: string
}

/** Ways to see an answer. */
export type View = 'plain' | 'json' | 'headers'

interface GoOptions {
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
	/** Forms that the user has opened or closed, by method. */
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

	/** Changes when the page begins to go to another URL. */
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
	 * Headers of a body, and If-Match for a change, so that it doesn't overwrite another user's. A weak ETag never matches
	 * there (RFC 9110 §13.1.1).
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
		// The user has gone elsewhere meanwhile.
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
		// Going back restores the scroll position.
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

	/** Loads the page again with other credentials. */
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

const BEGINNING = '<script type="application/json" id="data">'

/** The data of this document. */
export function ownData(): PageData {
	return parsed(document.getElementById('data')?.textContent ?? '')
}

/** The data of a page that was fetched; `undefined` for what is no page of ours. */
async function dataOf(answer: Response): Promise<PageData | undefined> {
	// Markup that others have written can look like a page of ours: the policy is in no markup.
	const isOurs = answer.headers.get('content-security-policy')?.includes("trusted-types 'none'") === true
	if (!isOurs || !answer.headers.get('content-type')?.startsWith('text/html')) {
		// It may be long, or have no end: it isn't taken in.
		answer.body?.cancel().catch(() => {})
		return undefined
	}
	const text = await answer.text()
	const begin = text.indexOf(BEGINNING)
	if (begin === -1) return undefined
	// No `<` is in the data: the next one ends it.
	return parsed(text.slice(begin + BEGINNING.length, text.indexOf('<', begin + BEGINNING.length)))
}

/** Written by the server from a PageData. */
function parsed(text: string): PageData {
	return JSON.parse(text) as PageData
}
