/**
 * The body of a request as a streaming method reads it. Closing it leaves the connection alone: node's own
 * request destroys its socket, and a method that stops reading (`throw` within `for await`) would never be
 * heard.
 */
import { Readable } from 'node:stream'
import { RestError } from '../base/error.ts'
import type { Incoming } from './incoming.ts'

/** Told of all that flows, and asked at its end for what is wrong with it. */
export interface UploadCheck {
	update(chunk: Uint8Array): void
	end(): Error | undefined
}

export class Upload extends Readable {
	readonly #incoming: Incoming
	readonly #release: () => void

	/** What `check` refuses has no end: it breaks off with the refusal, so that nobody takes it for whole. */
	constructor(incoming: Incoming, check?: UploadCheck) {
		super({ highWaterMark: 65_536 })
		this.#incoming = incoming
		const take = (chunk: Buffer): void => {
			check?.update(chunk)
			if (!this.push(chunk)) incoming.pause()
		}
		const end = (): void => {
			const refusal = check?.end()
			if (refusal === undefined) this.push(null)
			else this.destroy(refusal)
		}
		// The client has left: its mistake, and nothing to be logged.
		const fail = (cause?: Error): void => {
			this.destroy(new RestError('bad_request', 'The body was cut off before its end', { cause }))
		}
		const close = (): void => {
			if (!incoming.readableEnded) fail()
		}
		incoming.on('data', take).on('end', end).on('error', fail).on('close', close).pause()
		this.#release = () => incoming.off('data', take).off('end', end).off('error', fail).off('close', close)
		// A client that leaves must not end the process of a method that has no listener.
		this.on('error', () => {})
		// Of no bytes, and read by a parser in front; or left, while credentials were asked about: no event comes any more.
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
