/**
 * The options of `curl` that the documentation uses, so that its examples can be checked on machines without curl:
 * `-i -X -H -d -F -k --data-raw --http2`, and `-g -s -N --http1.1`, which have no effect here.
 */
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { connect } from 'node:http2'
import { request as requestHttps } from 'node:https'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'

const OPTIONS = {
	include: { type: 'boolean', short: 'i' },
	globoff: { type: 'boolean', short: 'g' },
	insecure: { type: 'boolean', short: 'k' },
	http2: { type: 'boolean' },
	'http1.1': { type: 'boolean' },
	silent: { type: 'boolean', short: 's' },
	'no-buffer': { type: 'boolean', short: 'N' },
	request: { type: 'string', short: 'X' },
	header: { type: 'string', short: 'H', multiple: true },
	data: { type: 'string', short: 'd', multiple: true },
	'data-raw': { type: 'string', multiple: true },
	form: { type: 'string', short: 'F', multiple: true },
} as const

interface Content {
	readonly type: string
	readonly bytes: Buffer
}

/** Runs a curl line, and returns what curl would print. Files are read below `directory`. */
export async function curl(line: string, directory: string): Promise<string> {
	const [program, ...args] = wordsOf(line)
	if (program !== 'curl') throw new TypeError(`a line with curl was expected, got: ${line}`)
	const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
	const [url] = positionals
	if (url === undefined || positionals.length > 1) throw new TypeError(`one URL was expected: ${line}`)
	const content = await contentOf(values.data ?? values['data-raw'], values.form, directory)
	const headers: Record<string, string> = { Accept: '*/*' }
	if (content !== undefined) headers['Content-Type'] = content.type
	for (const header of values.header ?? []) {
		const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(header) ?? []
		for (const other of Object.keys(headers)) {
			if (other.toLowerCase() === name.toLowerCase()) delete headers[other]
		}
		headers[name] = value
	}
	const method = values.request ?? (content === undefined ? 'GET' : 'POST')
	if (values.http2 === true) return textOver2(url)
	const answer = await send(url, method, headers, content?.bytes)
	const text = await textOf(answer)
	return values.include === true ? `${headOf(answer)}\n${text}` : text
}

/** A command's words, as a shell splits them: quotes of both kinds, and `\` at a line's end. */
export function wordsOf(line: string): string[] {
	const words = line.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)
	return [...words].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

async function contentOf(
	data: readonly string[] | undefined,
	form: readonly string[] | undefined,
	directory: string,
): Promise<Content | undefined> {
	if (data !== undefined)
		return { type: 'application/x-www-form-urlencoded', bytes: Buffer.from(data.join('&')) }
	if (form === undefined) return undefined
	const fields = new FormData()
	for (const field of form) {
		const [, name = '', isFile, value = '', type] = /^([^=]+)=(@?)([^;]*)(?:;type=(.*))?$/.exec(field) ?? []
		if (isFile === '') fields.append(name, value)
		else {
			const bytes = readFileSync(`${directory}/${value}`)
			fields.append(name, new File([bytes], basename(value), { type: type ?? 'application/octet-stream' }))
		}
	}
	const encoded = new Response(fields)
	return {
		type: encoded.headers.get('content-type') ?? '',
		bytes: Buffer.from(await encoded.arrayBuffer()),
	}
}

function send(
	url: string,
	method: string,
	headers: Record<string, string>,
	bytes: Buffer | undefined,
): Promise<IncomingMessage> {
	const request = url.startsWith('https:') ? requestHttps : requestHttp
	return new Promise((resolve, reject) => {
		const options = { method, headers, agent: false as const, rejectUnauthorized: false }
		request(url, options, resolve).on('error', reject).end(bytes)
	})
}

/** The response to a GET over HTTP/2. */
async function textOver2(url: string): Promise<string> {
	const session = connect(url, { rejectUnauthorized: false })
	try {
		return await textOf(session.request({ ':path': new URL(url).pathname }))
	} finally {
		session.close()
	}
}

async function textOf(answer: AsyncIterable<unknown>): Promise<string> {
	const chunks: Buffer[] = []
	for await (const chunk of answer) chunks.push(Buffer.from(chunk as Uint8Array))
	return Buffer.concat(chunks).toString('utf8')
}

function headOf(answer: IncomingMessage): string {
	const lines = [`HTTP/${answer.httpVersion} ${answer.statusCode} ${answer.statusMessage}`]
	const { rawHeaders } = answer
	for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
	return `${lines.join('\n')}\n`
}
