/** Requests pages as a browser does, and reads the data within them. */
import type { PageData } from '../../lib/explorer/page-data.ts'
import type { InjectedReply, Server } from '../../lib/index.ts'

/** What Chromium sends when an address is opened. */
export const NAVIGATION =
	'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8'

export function open(
	server: Server,
	url: string,
	headers: Readonly<Record<string, string>> = {},
	method = 'GET',
): Promise<InjectedReply> {
	return server.inject({ method, url, headers: { Accept: NAVIGATION, ...headers } })
}

/** The data of a page. */
export function dataIn(reply: InjectedReply): PageData {
	const [, text = ''] =
		/<script type="application\/json" id="data">([^<]*)<\/script>/.exec(reply.text()) ?? []
	return JSON.parse(text) as PageData // as the server writes it
}
