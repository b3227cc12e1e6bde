/**
 * `Body`: a request's body, which is decoded, streamed or compared with its Content-Digest on demand. `Exchange` creates
 * it on first use, `pipeline/read-body.ts` collects its bytes, and `body/` decodes them.
 */
import { Readable } from 'node:stream'
import { RestError } from '../base/error.ts'
import { type Method, takesBody } from '../base/http.ts'
import { NOT_AN_OBJECT } from '../wire/codes.ts'
import { type DecodedBody, decodeBody } from './body/decode-body.ts'
import { checkParsed } from './body/json.ts'
import { ContentDigest } from './content-digest.ts'
import { fieldLines, hasBody, type Incoming } from './incoming.ts'

const NO_BYTES = Buffer.alloc(0)
const MISMATCH = "the body doesn't match its Content-Digest"
const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})
/** Types whose fields are text. */
const FORM = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i

/** The digest that a body must have, and the error for a body with a different one. */
interface RequiredDigest {
	readonly digest: ContentDigest
	readonly refusal: (reason: string) => RestError
}

export interface BodySource {
	readonly incoming: Incoming
	readonly method: Method
	/** The method to call; `streaming` is set if it reads the body itself. */
	readonly action:
		| {
				readonly name: string
				readonly streaming: object | undefined
				readonly acceptPatch?: string | undefined
		  }
		| undefined
	/** Sends `100 Continue`, once, if the client waits for it. */
	readonly sendContinue: (() => void) | undefined
}

export class Body {
	/** The bytes, once they are collected. */
	bytes: Buffer | undefined = undefined
	/** Set while the body must still be compared with its digest. */
	requiredDigest: RequiredDigest | undefined = undefined
	/** The error for a streamed body with a digest, until the body has ended and matches. */
	unverified: RestError | undefined = undefined
	readonly #source: BodySource
	#upload: Upload | undefined = undefined
	#decoded: DecodedBody | undefined = undefined
	#post: Record<string, unknown> | undefined = undefined
	/** Whether the decoded value comes from a parser in front. */
	#isParsed = false

	constructor(source: BodySource) {
		this.#source = source
	}

	/**
	 * The bytes.
	 *
	 * @throws TypeError if the bytes were not collected: in a streaming method, behind another parser, or before step 8
	 */
	raw(): Buffer {
		const { action, incoming } = this.#source
		if (action?.streaming !== undefined) {
			throw new TypeError(
				`${action.name} is listed in \`streaming\`, so its body isn't buffered: read this.request.stream instead`,
			)
		}
		if (this.bytes !== undefined) return this.bytes
		const { body } = incoming
		if (Buffer.isBuffer(body)) return body
		if (typeof body === 'string') return Buffer.from(body)
		if (this.#hasParserResult)
			throw new TypeError('a parser in front has taken the bytes of the body: mount Verbena before it')
		if (!takesBody(this.#source.method) || !hasBody(incoming)) return NO_BYTES
		throw new TypeError(
			'the body has not been read: it is read after before(), and not at all if the request is refused first',
		)
	}

	/** Whether a parser in front has left a result in `request.body`; `null` counts only if the body has been read. */
	get #hasParserResult(): boolean {
		const { body, readableDidRead } = this.#source.incoming
		return body !== undefined && (body !== null || readableDidRead)
	}

	stream(): Readable {
		const { action, incoming } = this.#source
		if (action?.streaming === undefined) {
			throw new TypeError(
				`list ${action?.name ?? 'the method'} in \`streaming\` to read its body as a stream`,
			)
		}
		if (this.#upload === undefined && incoming.readableDidRead) {
			// Otherwise the method would wait for ever for bytes that were read already.
			throw new TypeError(
				`something in front has read the body, which ${action.name} reads as a stream: mount Verbena before it`,
			)
		}
		this.#source.sendContinue?.()
		this.#upload ??= new Upload(incoming, this.#uploadCheck())
		return this.#upload
	}

	/**
	 * Compares the body with its Content-Digest: at once if its bytes are there, else when they are read. `headers` are
	 * sent with the refusal.
	 *
	 * @throws RestError `unauthorized`; TypeError if a parser in front has taken the bytes, or the stream is being read
	 */
	requireDigest(headers: Readonly<Record<string, string>>): void {
		const { incoming, method } = this.#source
		const isSent = hasBody(incoming)
		const lines = fieldLines(incoming, 'content-digest')
		if (!isSent && lines.length === 0) return
		const refusal = (reason: string): RestError =>
			new RestError('unauthorized', undefined, { headers, cause: new Error(reason) })
		const required = { digest: digestOf(lines, refusal), refusal }
		const bytes = isSent ? this.#readBytes() : NO_BYTES
		if (bytes !== undefined) compare(required, bytes)
		else if (!takesBody(method))
			throw refusal("the body of a GET isn't read, so it can't be compared with its Content-Digest")
		else this.requiredDigest = required
	}

	/** Compares collected bytes, at the end of step 8; a stream is compared while the method reads it. */
	compareDigest(): void {
		if (this.requiredDigest === undefined || this.#source.action?.streaming !== undefined) return
		compare(this.requiredDigest, this.raw())
		this.requiredDigest = undefined
	}

	/** The bytes, if they have been read, by us or by a parser in front. */
	#readBytes(): Buffer | undefined {
		const { action, incoming } = this.#source
		if (action?.streaming !== undefined) {
			if (this.#upload === undefined || this.requiredDigest !== undefined) return undefined
			throw new TypeError('request.stream is already being read: authenticate the caller before using it')
		}
		const isParsed = incoming.readableDidRead && incoming.body !== undefined
		return this.bytes ?? (isParsed ? this.raw() : undefined)
	}

	#uploadCheck(): UploadCheck | undefined {
		if (this.requiredDigest === undefined) return undefined
		const { digest, refusal } = this.requiredDigest
		const hashing = digest.hashing()
		this.unverified = refusal(
			"the method has not read the body to its end, so it couldn't be compared with its Content-Digest",
		)
		return {
			update: (chunk) => hashing.update(chunk),
			end: () => {
				this.unverified = hashing.matches() ? undefined : refusal(MISMATCH)
				return this.unverified
			},
		}
	}

	/**
	 * Fails the stream. After the answer, node emits no event on the request when the client disconnects: a method that
	 * still reads the body would wait for ever.
	 */
	destroyStream(error: Error): void {
		this.#upload?.destroy(error)
	}

	/** The decoded body. Decoded on first use, so that methods can take types that we can't decode. */
	decoded(): DecodedBody {
		this.#decoded ??= this.#decode()
		return this.#decoded
	}

	#decode(): DecodedBody {
		const { action, incoming } = this.#source
		const { body, headers } = incoming
		const { bytes } = this
		// A parser in front may leave text or bytes (express.text(), express.raw()), which must still be decoded.
		const isParsed = this.#hasParserResult && typeof body !== 'string' && !Buffer.isBuffer(body)
		if (bytes === undefined && action?.streaming === undefined && isParsed) {
			checkParsed(body)
			this.#isParsed = true
			return { kind: 'json', value: body }
		}
		return decodeBody(bytes ?? this.raw(), {
			contentType: headers['content-type'],
			contentEncoding: headers['content-encoding'],
			acceptPatch: action?.acceptPatch,
		})
	}

	/** The body's fields; empty without a body. */
	fields(): Readonly<Record<string, unknown>> {
		const { value } = this.decoded()
		if (value === undefined) return NO_FIELDS
		if (typeof value === 'object' && value !== null && !Array.isArray(value))
			return value as Record<string, unknown>
		throw new RestError('invalid', NOT_AN_OBJECT)
	}

	/** The body's fields as `this.post`: one object per request, without prototype. */
	post(): Readonly<Record<string, unknown>> {
		this.#post ??= Object.assign(Object.create(null) as Record<string, unknown>, this.fields())
		return this.#post
	}

	isPost(source: object): boolean {
		return source === this.#post
	}

	/** If `source` is a form's fields, they have lists for repeated names; any other source is returned as it is. */
	withLists(source: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
		const body = this.#decoded
		return body !== undefined && 'fields' in body && source === body.value ? body.fields.lists() : source
	}

	/** Whether all fields are text, as in a form. */
	isText(): boolean {
		const { kind } = this.decoded()
		if (kind === 'form' || kind === 'multipart') return true
		// If a parser in front has read the body, only its Content-Type says whether it was a form.
		return this.#isParsed && FORM.test(this.#source.incoming.headers['content-type'] ?? '')
	}
}

/** The error when the client disconnects before the end of the body. */
export function cutOffError(cause?: Error): RestError {
	return new RestError('bad_request', 'The body was cut off before its end', { cause })
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

/** Hashes the chunks; `end` returns the refusal if the body doesn't match its digest. */
interface UploadCheck {
	update(chunk: Uint8Array): void
	end(): Error | undefined
}

/**
 * The body as a streaming method reads it. Closing it leaves the connection open: closing node's own request would
 * destroy its socket, and a method that stops reading (`throw` within `for await`) could not be answered.
 */
class Upload extends Readable {
	readonly #incoming: Incoming
	readonly #release: () => void

	/** If `check` refuses the body, the stream fails instead of ending, so that the body can't be taken for complete. */
	constructor(incoming: Incoming, check?: UploadCheck) {
		super({ highWaterMark: 65_536 })
		this.#incoming = incoming
		const onData = (chunk: Buffer): void => {
			check?.update(chunk)
			if (!this.push(chunk)) incoming.pause()
		}
		const end = (): void => {
			// HTTP/2 also emits it for a body that was cut off by RST_STREAM with NO_ERROR.
			if (incoming.stream?.aborted === true) {
				fail()
				return
			}
			const refusal = check?.end()
			if (refusal === undefined) this.push(null)
			else this.destroy(refusal)
		}
		// The client has disconnected: a 4xx, which isn't logged.
		const fail = (cause?: Error): void => {
			this.destroy(cutOffError(cause))
		}
		const close = (): void => {
			if (!incoming.readableEnded) fail()
		}
		incoming.on('data', onData).on('end', end).on('error', fail).on('close', close).pause()
		this.#release = () => incoming.off('data', onData).off('end', end).off('error', fail).off('close', close)
		// If the method has no listener, a client that disconnects would end the process.
		this.on('error', () => {})
		// No events follow if a parser in front has read an empty body, or the client disconnected during authentication.
		if (incoming.readableEnded) end()
		else if (incoming.destroyed) fail()
	}

	override _read(): void {
		this.#incoming.resume()
	}

	override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
		this.#release()
		this.#incoming.pause()
		done(error)
	}
}
