/** `App`: the state of the page (data, credentials, form drafts) and its navigation. */
import type { AnswerData, OperationData, PageData } from '../page-data.ts'
import type { Body } from './curl.ts'
import { isPath, pathOf } from './path.ts'
import { ANONYMOUS, type Session } from './session.ts'

export type BodyMode = 'fields' | 'json' | 'file'

/** The unsaved input of a form, kept when the page is rendered again. */
export interface Draft {
	readonly mode: BodyMode
	/** The state of each changed control, by field. */
	readonly fields: ReadonlyMap<string, string>
	readonly json: string
	readonly file: FileDraft | undefined
}

export interface FileDraft {
	readonly files: FileList | null
	/** The name of the file's part in a multipart form; empty if its bytes are the body. */
	readonly part: string
}

/** The views of an answer. */
export type View = 'plain' | 'json' | 'headers'

interface GoOptions {
	/** Whether the history gets a new entry. @default true */
	readonly push?: boolean
	/** The text for screen readers, which replaces the last notice. @default '' */
	readonly announcement?: string
	/** Whether the last notice stays. @default false */
	readonly keepsNotice?: boolean
}

/** An operation: its method, and its path if it isn't the page's. */
export type Target = Pick<OperationData, 'method' | 'url'>

/** A key that is unique among the operations of the page. */
export function keyOf({ method, url = '' }: Target): string {
	return method + url
}

export class App {
	data: PageData
	session: Session = ANONYMOUS
	/** The view that was last chosen. */
	view: View = 'plain'
	/** Input that wasn't sent yet, by {@link keyOf}. */
	readonly drafts = new Map<string, Draft>()
	/** Whether the user has opened or closed a form, by {@link keyOf}. */
	readonly expanded = new Map<string, boolean>()
	/** The records that are selected in the list: the last segments of their URLs. */
	readonly selected = new Set<string>()
	/** The exports and imports that are running. */
	readonly transfers = new Set<string>()
	/** Called when other records are selected. */
	onSelect = () => {}
	/**
	 * Path and query of the page that is shown, to which its forms are sent. Not the browser's address, which may already
	 * be the next page's: a form must change the record that the user sees.
	 */
	url = address()
	/** The number of the current navigation, which changes when another one starts. */
	navigation = 0
	/** The values of {@link once}, for the page's current data. */
	readonly #made = new Map<string, unknown>()
	readonly #render: (app: App) => void

	constructor(data: PageData, render: (app: App) => void) {
		this.data = data
		this.#render = render
	}

	/** A value that is made once for the page's data, however often the page is rendered. */
	once<T>(key: string, make: () => T): T {
		if (!this.#made.has(key)) this.#made.set(key, make())
		return this.#made.get(key) as T // made by the same `make`
	}

	/** The number of history entries of this page before the current one. */
	get steps(): number {
		return historyNumber('steps')
	}

	/** The URL of an operation: only GET has the query, because the conditions of a list mean nothing to a write. */
	urlFor({ method, url }: Target): string {
		return url ?? (method === 'GET' ? this.url : pathOf(this.url))
	}

	/**
	 * Content-Type of a body, and If-Match for a change, so that it doesn't overwrite another user's. A weak ETag is left
	 * out, because it never matches (RFC 9110 §13.1.1).
	 */
	headersFor({ method, url }: Target, body: Body | undefined): [name: string, value: string][] {
		const tag = headerIn(this.data.answer?.headers, 'etag')
		const isGuarded = tag !== undefined && !tag.startsWith('W/') && method !== 'POST' && method !== 'QUERY'
		const headers: [string, string][] = []
		if (typeof body === 'string') headers.push(['Content-Type', 'application/json'])
		// For a form, the browser sets the type with its boundary.
		else if (body instanceof File) headers.push(['Content-Type', body.type || 'application/octet-stream'])
		if (isGuarded && url === undefined) headers.push(['If-Match', tag])
		return headers
	}

	/** Renders the page and restores the focus, or else moves it to the heading. */
	render(): void {
		const key = document.activeElement?.getAttribute('data-key') ?? ''
		this.#render(this)
		const focused = key === '' ? null : document.querySelector(`[data-key=${CSS.escape(key)}]`)
		if (focused instanceof HTMLElement) focused.focus()
		else this.focusHeading()
	}

	focusHeading(): void {
		document.querySelector('h1')?.focus()
	}

	/**
	 * Navigates: fetches the page of a URL with the session's credentials and shows it. If there is no page, and there are
	 * no credentials, the browser opens the URL itself. Returns whether the page is shown.
	 */
	async go(
		url: string,
		{ push = true, announcement = '', keepsNotice = false }: GoOptions = {},
	): Promise<boolean> {
		if (!isPath(url)) return false
		const navigation = ++this.navigation
		document.body.setAttribute('aria-busy', 'true')
		const found = await this.#fetchPage(url)
		if (navigation !== this.navigation) return false
		document.body.removeAttribute('aria-busy')
		if (found === undefined) return false
		if (push) {
			history.replaceState({ steps: this.steps, top: scrollY }, '')
			history.pushState({ steps: this.steps + 1 }, '', found.url)
		} else history.replaceState(history.state, '', found.url)
		const isElsewhere = pathOf(found.url) !== pathOf(this.url)
		if (isElsewhere) {
			this.drafts.clear()
			this.expanded.clear()
			this.selected.clear()
		}
		this.url = found.url
		this.data = found.data
		this.#made.clear()
		if (!keepsNotice) this.notify(announcement)
		this.render()
		if (isElsewhere) scrollTo(0, historyNumber('top'))
		return true
	}

	/** `fetch` with the session's credentials. */
	async fetch(url: string, init: RequestInit): Promise<Response> {
		return fetch(await this.session.request(url, init))
	}

	async #fetchPage(url: string): Promise<{ data: PageData; url: string } | undefined> {
		try {
			const answer = await this.fetch(url, { headers: { Accept: 'text/html' } })
			const data = await dataOf(answer)
			const { pathname, search } = new URL(answer.url)
			if (data !== undefined) return { data, url: pathname + search }
			const type = answer.headers.get('content-type') ?? 'nothing'
			if (this.session.kind === 'none') location.assign(url)
			else this.notify(`${url} answered ${type}, which isn’t shown here.`)
		} catch (error) {
			this.notify(reasonOf(error))
		}
		return undefined
	}

	/** Reloads the page with other credentials. */
	async useSession(session: Session): Promise<void> {
		this.session = session
		// If no page was loaded, the button still has to show the new credentials.
		if (!(await this.go(this.url, { push: false, announcement: SENT[session.kind] }))) this.render()
		else if (session.kind !== 'none' && this.data.answer?.status === 401)
			this.notify('These credentials were refused.')
	}

	/** Shows a notice. Screen readers read out its text, but not `more`. */
	notify(text: string, ...more: (Node | string)[]): void {
		const [box] = document.getElementById('notices')?.children ?? []
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

/** The first value of a header. */
export function headerIn(headers: AnswerData['headers'] = [], name: string): string | undefined {
	return headers.find(([other]) => other.toLowerCase() === name)?.[1]
}

/** A number in the state of the history's current entry; 0 if absent. */
function historyNumber(name: 'steps' | 'top'): number {
	const state: unknown = history.state
	if (typeof state !== 'object' || state === null) return 0
	const value: unknown = Reflect.get(state, name)
	return typeof value === 'number' ? value : 0
}

/** The message for a request that failed without a response. */
export function reasonOf(error: unknown): string {
	// The messages of fetch's own TypeErrors differ by browser.
	const isOurs = error instanceof Error && /signRequest|secret|sign on/.test(error.message)
	return isOurs ? error.message : 'The server can’t be reached. Try again.'
}

const DATA_TAG = '<script type="application/json" id="data">'

/** The data embedded in this document. */
export function ownData(): PageData {
	return parsed(document.getElementById('data')?.textContent ?? '')
}

/** The data of a fetched page; `undefined` if it isn't a page of the explorer. */
async function dataOf(answer: Response): Promise<PageData | undefined> {
	// HTML that users have uploaded could imitate a page, but not its Content-Security-Policy header.
	const isOurs = answer.headers.get('content-security-policy')?.includes("trusted-types 'none'") === true
	if (!isOurs || !answer.headers.get('content-type')?.startsWith('text/html')) {
		// The body may be long or endless: don't read it.
		answer.body?.cancel().catch(() => {})
		return undefined
	}
	const text = await answer.text()
	const tag = text.indexOf(DATA_TAG)
	if (tag === -1) return undefined
	const begin = tag + DATA_TAG.length
	// `<` is escaped in the data, so the next `<` ends the data.
	return parsed(text.slice(begin, text.indexOf('<', begin)))
}

/** Written by the server from a PageData. */
function parsed(text: string): PageData {
	return JSON.parse(text) as PageData
}
