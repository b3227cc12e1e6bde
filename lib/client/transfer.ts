/** Exports and imports of a `CrudClient`: decodes a stream of records, and encodes one. */
import { type Call, parsed, unexpected } from './answer.ts'
import type { Imported, ImportOptions, Progress } from './call-options.ts'
import { OPTIONS } from './record-call.ts'
import { jsonOf, networkError, send, unlessAborted } from './send.ts'
import { checkNames, type Settings } from './settings.ts'

const NDJSON = 'application/x-ndjson'

/** The records of an export. @throws ApiError as `send`, and if it is cut off or not an export */
export async function* exported<T>(
	call: Call,
	settings: Settings,
	onProgress?: (progress: Progress) => void,
): AsyncGenerator<T, void, undefined> {
	const asked: Call = {
		...call,
		headers: { ...call.headers, Accept: NDJSON },
		read: async (response) => (isExport(response) ? undefined : response.text()),
	}
	const { response } = await send(asked, settings)
	const count = response.headers.get('X-Total-Count')
	const total = count === null ? undefined : Number(count)
	if (!isExport(response) || response.body === null) throw unexpected(call, response, 'is not an export')
	const reader = response.body.getReader()
	try {
		const decoder = new TextDecoder()
		let [text, last, records] = ['', '', 0]
		for (;;) {
			const { done, value } = await unlessAborted(reader.read(), call.signal).catch((cause: unknown) => {
				throw call.signal?.aborted === true ? call.signal.reason : networkError(call, response, cause)
			})
			const [first = '', ...others] = decoder.decode(value, { stream: !done }).split('\n')
			const lines = [text + first, ...others]
			text = lines.pop() ?? ''
			for (const line of lines) {
				// One line behind, because the last line isn't a record: it has their number.
				if (last !== '') {
					const record = parsed(last)
					if (record === undefined) throw unexpected(call, response, 'has a line that is not JSON', last)
					records++
					yield record as T // as the program has declared
				}
				last = line
			}
			onProgress?.({ records, total })
			if (done) break
		}
		if (last !== `{"done":${records}}`) throw unexpected(call, response, 'was cut off')
	} finally {
		await reader.cancel().catch(() => {})
	}
}

function isExport({ ok, headers }: Response): boolean {
	return ok && (headers.get('Content-Type') ?? '').startsWith(NDJSON)
}

/**
 * Sends an import: a file, or records as lines of JSON.
 *
 * @throws ApiError as `send`; whatever the source throws; TypeError and RangeError as `jsonOf`
 */
export async function imported(
	url: string,
	source: Blob | Iterable<unknown> | AsyncIterable<unknown>,
	{ mode, onProgress, ...options }: ImportOptions,
	settings: Settings,
): Promise<Imported> {
	checkNames(`POST ${url}/import`, options, [...OPTIONS, 'mode', 'onProgress'])
	const isFile = source instanceof Blob
	// Collected in memory: browsers can't send streams over HTTP/1.1, and a signature covers the whole body.
	const isWhole = 'location' in globalThis || settings.sign !== undefined
	const type = isFile ? source.type || 'text/csv' : NDJSON
	const call: Call = {
		...options,
		...{ method: 'POST', headers: { 'Content-Type': type, ...options.headers } },
		url: `${url}/import${mode === undefined ? '' : `?mode=${mode}`}`,
	}
	let failure: { readonly cause: unknown } | undefined
	const lines = isFile ? undefined : linesOf(source, call, onProgress)
	const stream = (some: ReturnType<typeof linesOf>) =>
		streamed(some, (cause) => {
			failure = { cause }
		})
	const raw = lines === undefined ? (source as Blob) : await (isWhole ? collected : stream)(lines)
	try {
		const { data } = await send({ ...call, raw }, settings)
		return data as Imported
	} catch (error) {
		// Otherwise the program would only learn that `fetch` has failed.
		throw failure === undefined ? error : failure.cause
	}
}

/** Lines of JSON, in chunks of about 16 KB. */
async function* linesOf(
	source: Iterable<unknown> | AsyncIterable<unknown>,
	call: Call,
	onProgress?: (progress: Progress) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
	const encoder = new TextEncoder()
	let [text, records] = ['', 0]
	for await (const record of source) {
		// With a space, it isn't the line that ends an export.
		text += `${jsonOf(record, call).replace(/^\{(?="done":\d+\}$)/, '{ ')}\n`
		records++
		if (text.length < 16_384) continue
		yield encoder.encode(text)
		text = ''
		onProgress?.({ records })
	}
	yield encoder.encode(text)
	onProgress?.({ records })
}

async function collected(lines: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Blob> {
	const parts: Uint8Array<ArrayBuffer>[] = []
	for await (const part of lines) parts.push(part)
	return new Blob(parts)
}

function streamed(
	lines: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
	failed: (cause: unknown) => void,
): ReadableStream<Uint8Array> {
	return new ReadableStream<Uint8Array>({
		async pull(controller) {
			const { done, value } = await lines.next().catch((cause: unknown) => {
				failed(cause)
				throw cause
			})
			if (done === true) controller.close()
			else controller.enqueue(value)
		},
		async cancel() {
			await lines.return()
		},
	})
}
