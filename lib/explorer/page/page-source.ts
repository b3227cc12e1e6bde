/** Finds the data of a page: in this document, or in the text of another. */
import type { PageData } from '../page-data.ts'

const BEGINNING = '<script type="application/json" id="data">'

/** The data of this document. */
export function ownData(): PageData {
	return parsed(document.getElementById('data')?.textContent ?? '')
}

/** The data of a page that was fetched; `undefined` for what is no page of ours. */
export async function dataOf(answer: Response): Promise<PageData | undefined> {
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
