/** `OperationIds`: a name for each operation, which stays the same as long as its handler, path and method do. */
import { type Endpoint, pathOfMount } from './endpoints.ts'

export class OperationIds {
	readonly #taken = new Set<string>()
	/** The first endpoint of each action, which has the plain name. */
	readonly #first = new Map<string, Endpoint>()

	/**
	 * `blog_api_get_article`, `blog_api_articles_list`. What else leads to the same action is told by its method and
	 * its params: `blog_api_articles_update_patch`, `greetings_get_greeting_by_name`.
	 */
	of(endpoint: Endpoint): string {
		const { mount, method, params, action } = endpoint
		const name = [...pathOfMount(mount).split('/'), action.name].map(plain).filter(isThere).join('_')
		// No function's name is empty, or begins with a digit.
		const base = /^[A-Za-z]/.test(name) ? name : ['operation', name].filter(isThere).join('_')
		const first = this.#first.get(base)
		if (first === undefined) this.#first.set(base, endpoint)
		const more = first === undefined || first.method === method ? [] : [method.toLowerCase()]
		const by = first === undefined || first.path === endpoint.path ? [] : params.map(({ name }) => name)
		const id = [base, ...more, ...(by.length === 0 ? [] : ['by', ...by])].map(plain).join('_')
		let free = id
		for (let count = 2; this.#taken.has(free); count++) free = `${id}_${count}`
		this.#taken.add(free)
		return free
	}
}

/** Letters, digits and `_`, so that it can be a function's name in most languages. */
function plain(text: string): string {
	return text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')
}

function isThere(text: string): boolean {
	return text !== ''
}
