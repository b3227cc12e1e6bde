/**
 * Streams and iterables that a method has returned and nobody reads: not yet, while a check is awaited, or
 * never, as something else is answered.
 */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { CustomReply } from './head.ts'

/**
 * Keeps a stream that fails before anybody listens from ending the process: whoever reads it later finds
 * the error in its state.
 */
export function swallowErrors(value: unknown): void {
	const inner = innerOf(value)
	if (inner instanceof Readable) inner.on('error', ignore)
}

/** Of what reads a stream piece by piece, that stream. */
const READ_BY = new WeakMap<object, unknown>()

/** Has what is read by another closed with it: a generator that wasn't begun closes nothing itself. */
export function closeWith(reader: object, value: unknown): void {
	READ_BY.set(reader, value)
}

/** By its method, as to load the class in order to ask for it costs every start some milliseconds. */
export function isWebStream(value: object): value is ReadableStream {
	return 'getReader' in value && typeof value.getReader === 'function'
}

/** A fetch `Response`, whoever's class it is: Node's is not loaded to ask for it. */
export function isResponse(value: unknown): value is Response {
	if (typeof value !== 'object' || value === null) return false
	return (
		Object.prototype.toString.call(value) === '[object Response]' && 'headers' in value && 'body' in value
	)
}

/** Closes what won't be sent, so that its source lets go of files and connections. */
export function disposeBody(value: unknown): void {
	const inner = innerOf(value)
	if (typeof inner !== 'object' || inner === null) return
	if (inner instanceof Readable) inner.on('error', ignore).destroy()
	else if (isWebStream(inner)) inner.cancel().catch(ignore)
	else if (Symbol.asyncIterator in inner) void close(inner as AsyncIterable<unknown>)
	const read = READ_BY.get(inner)
	READ_BY.delete(inner)
	if (read !== undefined) disposeBody(read)
}

/** Waits for a stream's first bytes or its end, while an error can still be told. Rejects with that error. */
export function firstBytes(source: Readable): Promise<void> {
	swallowErrors(source)
	return new Promise((resolve, reject) => {
		const done = (error?: Error): void => {
			source.off('readable', done).off('end', done).off('error', done).off('close', done)
			if (error === undefined) resolve()
			else reject(error)
		}
		if (source.errored) reject(source.errored)
		else if (source.readableLength > 0 || source.readableEnded || source.destroyed) resolve()
		else source.on('readable', done).on('end', done).on('error', done).on('close', done)
	})
}

/** What is read of a value that was returned: within a reply, and of a Response its body, which a copy of it shares. */
export function innerOf(value: unknown): unknown {
	const inner: unknown = value instanceof CustomReply ? value.value : value
	return isResponse(inner) ? inner.body : inner
}

/** What fails while it is closed has nobody left to be told to. */
async function close(source: AsyncIterable<unknown>): Promise<void> {
	try {
		await source[Symbol.asyncIterator]().return?.()
	} catch {}
}

function ignore(): void {}
