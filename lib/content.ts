/** `Content`: what a request carries, its query and its body, each decoded when it is first asked for. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Action } from './action.ts'
import { type DecodedBody, decodeBody } from './decode/decode-body.ts'
import type { Fields } from './decode/fields.ts'
import { decodeQuery } from './decode/form.ts'
import { RestError } from './error.ts'
import type { Incoming } from './incoming.ts'
import { Upload } from './upload.ts'

const NO_BYTES = Buffer.alloc(0)
const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})
/** Types whose fields are text. */
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

export class Content {
	readonly incoming: Incoming
	action: Action | undefined = undefined
	queryText = ''
	/** The body's bytes, once step 8 has read them. */
	bytes: Buffer | undefined = undefined
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
		if (body === undefined || body === null) return NO_BYTES
		throw new TypeError('a parser in front has taken the bytes of the body: mount Verbena before it')
	}

	stream(): Readable {
		if (this.action?.streaming === undefined) {
			throw new TypeError(
				`name ${this.action?.name ?? 'the method'} in streaming to read its body as a stream`,
			)
		}
		this.sendContinue?.()
		this.#upload ??= new Upload(this.incoming)
		return this.#upload
	}

	/**
	 * Ends a stream that is being read, for an answer that doesn't wait for it: once that is sent, node tells
	 * the request nothing more, not even that its client has left.
	 */
	protected cutStream(error: Error): void {
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
		const isParsed = body != null && typeof body !== 'string' && !Buffer.isBuffer(body)
		if (bytes === undefined && this.action?.streaming === undefined && isParsed) {
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
