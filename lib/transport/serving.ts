/**
 * The first of the two lists that a request passes: what is around `pipeline/answer.ts`, the second. `node-http.ts`,
 * `fetch.ts` and `inject.ts` bring the bytes in, call `serve` for each request, and take the reply out.
 */
import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { explore } from '../explorer/explorer.ts'
import type { Health } from '../health/health.ts'
import { Watch, type Watching } from '../observe/watch.ts'
import { answer } from '../pipeline/answer.ts'
import { answerCompressed } from '../reply/compression/compress.ts'
import type { Compression } from '../reply/compression/compression.ts'
import { sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import type { MountTree } from '../routing/mount.ts'
import { type Admission, admit, type Vetting } from './admission.ts'
import { discard } from './send.ts'
import type { TickBatcher } from './tick-batcher.ts'

/** What serves requests. */
export interface Service extends Admission {
	readonly mounts: MountTree
	readonly vetting: Vetting
	readonly batcher: TickBatcher<Exchange>
	readonly watching: Watching
	readonly health: Health | undefined
	/** `undefined` where answers go out as they are. */
	readonly compression: Compression | undefined
}

/** Takes a reply to where it goes, `to`: a response, or a promise's resolve. `closes` ends the connection behind it. */
export type Send<To> = (exchange: Exchange, to: To, reply: Reply, closes: boolean) => void

/** Serves a request: `send` is called once, with its reply or with what replaces that when its time is over. */
export function serve<To>(service: Service, exchange: Exchange, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? replyTo(service, exchange) : watch.run(() => replyTo(service, exchange))
	if (reply instanceof Promise) sendInTime(exchange, to, send, reply)
	else send(exchange, to, reply, false)
}

/** Refuses a request that can't be looked at any further, and whose connection is closed then. */
export function refuse<To>(exchange: Exchange, error: RestError, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? sealError(exchange, error) : watch.run(() => sealError(exchange, error))
	send(exchange, to, reply, true)
}

/** The watch over a request, where it is logged, traced or timed; nobody is told of probes. */
export function watchOf({ watching, health }: Service, exchange: Exchange): Watch | undefined {
	if (!watching.isOn || health?.isProbe(exchange.incoming) === true) return undefined
	const watch = new Watch(exchange, watching)
	exchange.watch = watch
	return watch
}

/** The list: closed, health, admission, compression, explorer, and then the pipeline. */
function replyTo(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const { app, mounts, health, compression } = service
	if (app.phase === 'closed') return sealError(exchange, closing())
	const probed = health?.answer(exchange)
	if (probed !== undefined) return probed
	const refusal = admit(service, exchange)
	if (refusal !== undefined) return sealError(exchange, refusal)
	const step = app.explorer ? explore : answer
	if (compression === undefined) return step(exchange, mounts)
	return answerCompressed(exchange, compression, () => step(exchange, mounts))
}

/** Waits for the reply, until the exchange's deadline: see `base/deadlines.ts`. */
function sendInTime<To>(exchange: Exchange, to: To, send: Send<To>, reply: Promise<Reply>): void {
	const { deadlines } = exchange.app
	exchange.interrupt = (error) => {
		deadlines.delete(exchange)
		if (!exchange.replied) send(exchange, to, sealError(exchange, error), true)
	}
	deadlines.add(exchange)
	// `answer` turns every error into a reply: this promise never rejects.
	void reply.then((done) => {
		deadlines.delete(exchange)
		if (exchange.replied) discard(done)
		else send(exchange, to, done, false)
	})
}

/** Why requests are refused once the server is closed. */
export function closing(): RestError {
	return new RestError('unavailable', 'The server is closing')
}

/** The answer to an expectation that isn't served (RFC 9110 §10.1.1). */
export function unexpected(): RestError {
	return new RestError('expectation_failed', 'The only expectation served is 100-continue')
}
