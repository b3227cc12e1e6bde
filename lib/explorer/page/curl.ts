/** curl commands for the page's requests, for a POSIX shell. */

/** A request body: JSON text, the bytes of a file, or a multipart form with a file. */
export type Body = string | File | FormData

export interface CurlRequest {
	readonly method: string
	/** Absolute. */
	readonly url: string
	readonly headers: readonly (readonly [name: string, value: string])[]
	readonly body: Body | undefined
	/** Whether a bearer token is sent: the command has the variable `$TOKEN`, never the token itself. */
	readonly hasToken: boolean
}

export function curlLine({ method, url, headers, body, hasToken }: CurlRequest): string {
	const words = ['curl']
	// Without -g, curl expands brackets and braces into several URLs.
	if (/[[\]{}]/.test(url)) words.push('-g')
	if (method !== 'GET' || body !== undefined) words.push('-X', method)
	words.push(quoted(url))
	// The shell expands variables in double quotes.
	if (hasToken) words.push('-H', '"Authorization: Bearer $TOKEN"')
	for (const [name, value] of headers) words.push('-H', quoted(`${name}: ${value}`))
	words.push(...bodyWords(body))
	return words.join(' ')
}

/** A file has only its name, because pages don't know its folder. */
function bodyWords(body: Body | undefined): string[] {
	if (body === undefined) return []
	if (typeof body === 'string') return ['--data-raw', quoted(body)]
	if (body instanceof File) return ['--data-binary', quoted(`@${body.name}`)]
	return [...body].flatMap(([name, value]) => {
		if (typeof value === 'string') return ['--form-string', quoted(`${name}=${value}`)]
		// Quoted, because `;` and `,` in a name would start curl's own options.
		const file = `"${value.name.replaceAll(/["\\]/g, '\\$&')}"`
		return ['-F', quoted(`${name}=@${file}${value.type === '' ? '' : `;type=${value.type}`}`)]
	})
}

/** Quotes a text for the shell, which expands nothing in single quotes. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`
}
