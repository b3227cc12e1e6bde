/** Lines of curl that send what the page sends, for a POSIX shell. */

/** What a form sends: JSON as a text, the bytes of a file, or a form of the web with a file in it. */
export type Body = string | File | FormData

export interface CurlRequest {
	readonly method: string
	/** With its scheme and host. */
	readonly url: string
	/** Names and values. */
	readonly headers: readonly (readonly [string, string])[]
	readonly body: Body | undefined
	/** Whether a bearer token goes with it: the line names a variable, never the token. */
	readonly hasToken: boolean
}

export function curlLine({ method, url, headers, body, hasToken }: CurlRequest): string {
	const words = ['curl']
	// Without it curl takes brackets and braces for a list of URLs.
	if (/[[\]{}]/.test(url)) words.push('-g')
	if (method !== 'GET' || body !== undefined) words.push('-X', method)
	words.push(quoted(url))
	// Between these quotes the shell puts the variable's value.
	if (hasToken) words.push('-H', '"Authorization: Bearer $TOKEN"')
	for (const [name, value] of headers) words.push('-H', quoted(`${name}: ${value}`))
	words.push(...bodyWords(body))
	return words.join(' ')
}

/** A file is looked for where curl runs: pages aren't told where it lies. */
function bodyWords(body: Body | undefined): string[] {
	if (body === undefined) return []
	if (typeof body === 'string') return ['--data-raw', quoted(body)]
	if (body instanceof File) return ['--data-binary', quoted(`@${body.name}`)]
	return [...body].flatMap(([name, value]) => {
		if (typeof value === 'string') return ['--form-string', quoted(`${name}=${value}`)]
		// Between quotes a name may hold what else begins another of its options.
		const file = `"${value.name.replaceAll(/["\\]/g, '\\$&')}"`
		return ['-F', quoted(`${name}=@${file}${value.type === '' ? '' : `;type=${value.type}`}`)]
	})
}

/** A shell reads nothing between single quotes but their end. */
export function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`
}
