/**
 * What is answered piece by piece, read in the context of its request: `AsyncLocalStorage` would else be that of
 * whoever takes the pieces, which is nobody's or the connection's. For `reply/reply.ts`, where a tracer has bound one.
 */
import { AsyncResource } from 'node:async_hooks'
import type { Readable } from 'node:stream'

/** Has a stream read in the context of now. */
export function bindReads(source: Readable): void {
	const scope = new AsyncResource(NAME)
	const read = source._read
	source._read = (size) => scope.runInAsyncScope(read, source, size)
}

/** The same records, each made in the context of now. */
export function boundRecords(source: AsyncIterable<unknown>): AsyncIterable<unknown> {
	const scope = new AsyncResource(NAME)
	return {
		[Symbol.asyncIterator]() {
			const inner = source[Symbol.asyncIterator]()
			return {
				next: () => scope.runInAsyncScope(() => inner.next()),
				async return() {
					const ended = await scope.runInAsyncScope(() => inner.return?.())
					return ended ?? { done: true, value: undefined }
				},
			}
		},
	}
}

/** As tools that list what is under way call it. */
const NAME = 'VerbenaRequest'
