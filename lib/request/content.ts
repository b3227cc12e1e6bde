/** `Content`: what a request carries, its query and its body, each decoded when it is first asked for. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { RestError } from '../base/error.ts'
import { type Method, takesBody } from '../base/http.ts'
import type { Action } from '../exchange/action.ts'
import { type DecodedBody, decodeBody } from './body/decode-body.ts'
import type { Fields } from './body/fields.ts'
import { decodeQuery } from './body/form.ts'
import { checkParsed } from './body/json.ts'
import { ContentDigest } from './content-digest.ts'
import { fieldLines, hasBody } from './head.ts'
import type { Incoming } from './incoming.ts'
import { Upload, type UploadCheck } from './upload.ts'

const NO_BYTES = Buffer.alloc(0)
const MISMATCH = 'the body is not what Content-Digest says'
const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})
/** Types whose fields are text. */
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/** What the bytes of a body must hash to, and who refuses others. */
interface RequiredDigest {
	readonly digest: ContentDigest
	readonly refusal: (reason: string) => RestError
}

export class Content {
	readonly incoming: Incoming
	/** The method that is served. */
	method: Method = 'GET'
	action: Action | undefined = undefined
	queryText = ''
	/** The body's bytes, once step 8 has read them. */
	bytes: Buffer | undefined = undefined
	/** Set while a body is to be compared with its digest. */
	requiredDigest: RequiredDigest | undefined = undefined
	/** What is known of a body that flows, where its digest is required: its refusal, until it has ended well. */
	unverified: RestError | undefined = undefined
	/** Sends `100 Continue`, once, if the client waits for it. */
	sendContinue: (() => void) | undefined = undefined
	#upload: Upload | undefined = undefined
	#decoded: DecodedBody | undefined = undefined
	#query: Fields | undefined = undefined
	#post: Record<string, unknown> | undefined = undefined
	/** Whether a parser in front has read the body. */
	#isParsed = false

	constructor(incoming: Incoming) {
		this.incoming = incoming
	}

	get headers(): IncomingHttpHeaders {
		return this.incoming.headers
	}

	rawBody(): Buffer {
		if (this.action?.streaming !== undefined) {
			throw new TypeError(
				`${this.action.name} is named in streaming: read this.request.stream, its body is not collected`,
			)
		}
		if (this.bytes !== undefined) return this.bytes
		const { body } = this.incoming
		if (Buffer.isBuffer(body)) return body
		if (typeof body === 'string') return Buffer.from(body)
		if (body === undefined || (body === null && !this.incoming.readableDidRead)) return this.#unsent()
		throw new TypeError('a parser in front has taken the bytes of the body: mount Verbena before it')
	}

	/** Taken for none, a body that is read later would be none for the method as well. */
	#unsent(): Buffer {
		if (!takesBody(this.method) || !hasBody(this.incoming)) return NO_BYTES
		throw new TypeError(
			'the body has not been read: it is read behind before(), and not at all where a request is refused first',
		)
	}

	stream(): Readable {
		if (this.action?.streaming === undefined) {
			throw new TypeError(
				`name ${this.action?.name ?? 'the method'} in streaming to read its body as a stream`,
			)
		}
		if (this.#upload === undefined && this.incoming.readableDidRead) {
			// What has been read never comes again, and the method would wait for it.
			throw new TypeError(
				`something in front has read the body, which ${this.action.name} reads as a stream: mount Verbena before it`,
			)
		}
		this.sendContinue?.()
		this.#upload ??= new Upload(this.incoming, this.#uploadCheck())
		return this.#upload
	}

	/**
	 * Compares the body with its Content-Digest: at once where its bytes are known, else when they have been read.
	 * `headers` are those of the refusal.
	 *
	 * @throws RestError `unauthorized`; TypeError where a parser in front has taken the bytes, or the stream flows
	 */
	requireDigest(headers: Readonly<Record<string, string>>): void {
		const { incoming } = this
		const has = hasBody(incoming)
		const lines = fieldLines(incoming, 'content-digest')
		if (!has && lines.length === 0) return
		const refusal = (reason: string): RestError =>
			new RestError('unauthorized', undefined, { headers, cause: new Error(reason) })
		const required = { digest: digestOf(lines, refusal), refusal }
		const bytes = has ? this.#received() : NO_BYTES
		if (bytes !== undefined) compare(required, bytes)
		else if (!takesBody(this.method))
			throw refusal('the body of a GET is not read, and so can not be compared')
		else this.requiredDigest = required
	}

	/** The last of step 8. What a method reads as a stream is compared as it flows. */
	compareDigest(): void {
		if (this.requiredDigest === undefined || this.action?.streaming !== undefined) return
		compare(this.requiredDigest, this.rawBody())
		this.requiredDigest = undefined
	}

	/** The bytes of the body, as far as it has been read, by us or by a parser in front. */
	#received(): Buffer | undefined {
		const { incoming } = this
		if (this.action?.streaming !== undefined) {
			if (this.#upload === undefined || this.requiredDigest !== undefined) return undefined
			throw new TypeError('the body flows already: ask who is calling before request.stream is used')
		}
		const isTaken = incoming.readableDidRead && incoming.body !== undefined
		return this.bytes ?? (isTaken ? this.rawBody() : undefined)
	}

	#uploadCheck(): UploadCheck | undefined {
		if (this.requiredDigest === undefined) return undefined
		const { digest, refusal } = this.requiredDigest
		const hashing = digest.hashing()
		this.unverified = refusal('the method has not read the body to its end, so that it could be compared')
		return {
			update: (chunk) => hashing.update(chunk),
			end: () => {
				this.unverified = hashing.matches() ? undefined : refusal(MISMATCH)
				return this.unverified
			},
		}
	}

	/**
	 * Ends a stream that is being read, for an answer that doesn't wait for it: once that is sent, node tells
	 * the request nothing more, not even that its client has left.
	 */
	cutStream(error: Error): void {
		this.#upload?.destroy(error)
	}

	/** The decoded body: decoded when it is first asked for, so that a method which takes any type can. */
	decoded(): DecodedBody {
		this.#decoded ??= this.#decode()
		return this.#decoded
	}

	#decode(): DecodedBody {
		const { headers, incoming, bytes } = this
		const { body } = incoming
		// Text and bytes (express.text(), express.raw()) are still to be decoded.
		const isNone = body === undefined || (body === null && !incoming.readableDidRead)
		const isParsed = !isNone && typeof body !== 'string' && !Buffer.isBuffer(body)
		if (bytes === undefined && this.action?.streaming === undefined && isParsed) {
			checkParsed(body)
			this.#isParsed = true
			return { kind: 'json', value: body }
		}
		return decodeBody(bytes ?? this.rawBody(), {
			contentType: headers['content-type'],
			contentEncoding: headers['content-encoding'],
		})
	}

	/** The body's fields, for whoever wants an object; none without a body. */
	fields(): Readonly<Record<string, unknown>> {
		const { value } = this.decoded()
		if (value === undefined) return NO_FIELDS
		if (typeof value === 'object' && value !== null && !Array.isArray(value))
			return value as Record<string, unknown>
		throw new RestError('invalid', 'The body must be an object with named fields')
	}

	/** The body's fields as `this.post`: one object a request, without prototype. */
	post(): Readonly<Record<string, unknown>> {
		this.#post ??= Object.assign(Object.create(null) as Record<string, unknown>, this.fields())
		return this.#post
	}

	isPost(source: object): boolean {
		return source === this.#post
	}

	/** The query, or a form's fields, with all values of the names that came more than once. */
	withLists(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
		if (source === this.#query?.last) return this.#query.lists()
		const body = this.#decoded
		return body !== undefined && 'fields' in body && source === body.value ? body.fields.lists() : source
	}

	/** Whether the body's fields are text, as a form's are. */
	isText(): boolean {
		const { kind } = this.decoded()
		if (kind === 'form' || kind === 'multipart') return true
		// A parser in front tells only by the header what it has read.
		return this.#isParsed && FORM.test(this.headers['content-type'] ?? '')
	}

	/** The decoded query, all values of each name. */
	query(): Fields {
		this.#query ??= decodeQuery(this.queryText)
		return this.#query
	}
}

function digestOf(lines: readonly string[], refusal: (reason: string) => RestError): ContentDigest {
	try {
		return new ContentDigest(lines.join(', '))
	} catch (error) {
		throw refusal(error instanceof Error ? error.message : 'Content-Digest is malformed')
	}
}

function compare({ digest, refusal }: RequiredDigest, bytes: Buffer): void {
	if (!digest.matches(bytes)) throw refusal(MISMATCH)
}
