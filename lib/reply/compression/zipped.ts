/** A body that comes in pieces, compressed as it comes. */
import { finished, Readable } from 'node:stream'
import type { Bytes } from '../../base/time.ts'
import { guard } from '../unsent.ts'
import type { Coding } from './codings.ts'

/** What is read ahead of a client: as much as `send` reads of what isn't compressed. */
const AHEAD: Bytes = 65_536

/**
 * The body, compressed. Pieces that come while the last is still being compressed are compressed together, and when
 * there are no more at the end of a turn of the event loop what there is is flushed, so that a feed shows each record
 * when it comes. Nothing is taken in that the reader doesn't take off; a reader that leaves closes the source, an error
 * of the source breaks the body off.
 */
export function zipped(body: Readable | AsyncIterable<string | Uint8Array>, coding: Coding): Readable {
	// First, as it may fail: then the body is as it was.
	const zip = coding.stream()
	const source =
		body instanceof Readable ? body : Readable.from(body, { objectMode: false, highWaterMark: AHEAD })
	guard(zip)
	let isBusy = false
	let hasEnded = false
	const free = (): void => {
		isBusy = false
		take()
	}
	const flush = (): void => {
		if (isBusy || hasEnded || zip.destroyed) return
		isBusy = true
		coding.flush(zip, free)
	}
	const take = (): void => {
		if (isBusy || hasEnded || zip.destroyed) return
		// All that there is, in one piece.
		const piece: unknown = source.read()
		if (piece === null) return
		isBusy = true
		// Called back once it is compressed, and what came of it has room.
		zip.write(piece, () => {
			free()
			if (!isBusy) setImmediate(flush)
		})
	}
	finished(source, { writable: false }, (error) => {
		hasEnded = true
		if (error === undefined || error === null) zip.end()
		else zip.destroy(error)
	})
	zip.once('close', () => source.destroy())
	source.on('readable', take)
	return zip
}
