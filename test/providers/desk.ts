/** The data provider for react-admin against a server, with all that it asks; for tests that call it. */
import { blogHandlers } from '../../examples/react-admin/blog.ts'
import type { Handlers } from '../../lib/index.ts'
import { type DataProvider, dataProvider, HttpError, type Options } from '../../lib/providers/react-admin.ts'
import { listening } from '../helpers/listening.ts'

export interface Asked {
	readonly method: string
	/** Behind the server's address. */
	readonly url: string
	readonly body: string | undefined
	readonly condition: string | null
}

export interface Desk {
	readonly provider: DataProvider
	/** The requests so far, in their order. */
	readonly asked: Asked[]
}

/** A provider for a blog of its own, or for other handlers at `/api`, with all that it asks. */
export function atDesk(
	use: (desk: Desk) => Promise<void>,
	options: Partial<Options> = {},
	handlers: Handlers = blogHandlers(),
): Promise<void> {
	return listening(handlers, {}, async ({ url: origin }) => {
		const asked: Asked[] = []
		const provider = dataProvider(`${origin}/api`, {
			fetch(url, init) {
				const { method, headers, body } = init
				asked.push({
					method,
					url: decoded(url.slice(origin.length)),
					body: typeof body === 'string' ? body : undefined,
					condition: headers.get('If-Match'),
				})
				return fetch(url, init)
			},
			...options,
		})
		await use({ provider, asked })
	})
}

export function decoded(url: string): string {
	return decodeURIComponent(url).replaceAll('+', ' ')
}

export async function refusalOf(work: Promise<unknown>): Promise<HttpError> {
	const thrown = await work.then(
		() => undefined,
		(error: unknown) => error,
	)
	if (!(thrown instanceof HttpError)) throw new Error('it was not refused', { cause: thrown })
	return thrown
}
