/** Streams and iterables returned by a method: recognizing them, waiting for them, and closing those that won't be sent. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { attach, attachment } from '../base/attached.ts'
import { CustomReply } from './custom-reply.ts'

/**
 * Ignores the `error` event of a stream that fails before it is read: the event would end the process. The stream's
 * reader still finds the error in its state.
 */
export function swallowErrors(value: unknown): void {
	const inner = innerOf(value)
	if (inner instanceof Readable) inner.on('error', ignore)
}

/** Property of a reader (a generator, say): the stream that it reads. */
const READ_BY: unique symbol = Symbol('verbena.read-by')

/** Makes `disposeBody(reader)` close `value` too: a generator that was never started closes nothing itself. */
export function closeWith(reader: object, value: unknown): void {
	attach(reader, READ_BY, value)
}

/** Checks for a method, because loading the class for `instanceof` would delay every start by some milliseconds. */
export function isWebStream(value: object): value is ReadableStream {
	return 'getReader' in value && typeof value.getReader === 'function'
}

/** Whether this is a fetch `Response` of any implementation; Node's class isn't loaded for this check. */
export function isResponse(value: unknown): value is Response {
	if (typeof value !== 'object' || value === null) return false
	return (
		Object.prototype.toString.call(value) === '[object Response]' && 'headers' in value && 'body' in value
	)
}

/** A streamed body as a Readable that reads at most 64 kB ahead of the client. */
export function readableOf(body: Readable | AsyncIterable<string | Uint8Array>): Readable {
	return body instanceof Readable ? body : Readable.from(body, { objectMode: false, highWaterMark: 65_536 })
}

/** Closes a body that won't be sent, so that its source releases files and connections. */
export function disposeBody(value: unknown): void {
	const inner = innerOf(value)
	if (typeof inner !== 'object' || inner === null) return
	if (inner instanceof Readable) inner.on('error', ignore).destroy()
	else if (isWebStream(inner)) inner.cancel().catch(ignore)
	else if (Symbol.asyncIterator in inner) void closeIterable(inner as AsyncIterable<unknown>)
	const source = attachment(inner, READ_BY)
	if (source === undefined) return
	attach(inner, READ_BY, undefined)
	disposeBody(source)
}

/** Waits for a stream's first bytes or its end; rejects with its error. */
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

/** The part of a returned value that is read: the value of a `reply()`, the body of a Response. */
export function innerOf(value: unknown): unknown {
	const inner: unknown = value instanceof CustomReply ? value.value : value
	return isResponse(inner) ? inner.body : inner
}

/** Closes an iterable, ignoring errors. */
async function closeIterable(source: AsyncIterable<unknown>): Promise<void> {
	try {
		await source[Symbol.asyncIterator]().return?.()
	} catch {}
}

function ignore(): void {}
