/**
 * `transport/` brings requests in and sends replies out: over node:http (`node-http.ts`, `send.ts`), `server.fetch()`
 * (`fetch.ts`) and `server.inject()` (`inject.ts`). All three call `serve`. Its list, `replyTo`, is the first of the two
 * that a request passes; it ends with the second, `pipeline/answer.ts`. `server/` makes the `Service` and the listeners.
 */
import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { explore } from '../explorer/explorer.ts'
import type { Health } from '../health/health.ts'
import { Watch, type Watching } from '../observe/watch.ts'
import { answer } from '../pipeline/answer.ts'
import type { Compression } from '../reply/compression/codings.ts'
import { answerCompressed } from '../reply/compression/compress.ts'
import { sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import type { MountTree } from '../routing/routing.ts'
import { type Admission, admit, type Vetting } from './admission.ts'
import type { TickBatcher } from './tick-batcher.ts'

/** What the transports need to serve requests. */
export interface Service extends Admission {
	readonly mounts: MountTree
	readonly vetting: Vetting
	readonly batcher: TickBatcher<Exchange>
	readonly watching: Watching
	readonly health: Health | undefined
	/** `undefined` where compression is off. */
	readonly compression: Compression | undefined
}

/** Sends a reply to `to`: a response object, or a promise's resolve. `closes` ends the connection after it. */
export type Send<To> = (exchange: Exchange, to: To, reply: Reply, closes: boolean) => void

/** Serves a request: calls `send` once, with the reply, or with an error when the deadline passes first. */
export function serve<To>(service: Service, exchange: Exchange, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? replyTo(service, exchange) : watch.run(() => replyTo(service, exchange))
	if (reply instanceof Promise) sendInTime(exchange, to, send, reply)
	else send(exchange, to, reply, false)
}

/** Refuses a request without serving it, and closes its connection. */
export function refuse<To>(exchange: Exchange, error: RestError, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? sealError(exchange, error) : watch.run(() => sealError(exchange, error))
	send(exchange, to, reply, true)
}

/** The watch over a request, where requests are logged, traced or timed. Probes of health are not. */
export function watchOf({ watching, health }: Service, exchange: Exchange): Watch | undefined {
	if (!watching.isOn || health?.isProbe(exchange.incoming) === true) return undefined
	const watch = new Watch(exchange, watching)
	exchange.watch = watch
	return watch
}

/** The list: closed, health, admission, compression, explorer, and last the pipeline. */
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

/** Waits for the reply; its deadline, or closing the server, calls `interrupt` and an error is sent instead. */
function sendInTime<To>(exchange: Exchange, to: To, send: Send<To>, reply: Promise<Reply>): void {
	const { deadlines } = exchange.app
	exchange.interrupt = (error) => {
		deadlines.delete(exchange)
		if (!exchange.isReplied) send(exchange, to, sealError(exchange, error), true)
	}
	deadlines.add(exchange)
	// Never rejects: `answer` turns every error into a reply.
	void reply.then((done) => {
		deadlines.delete(exchange)
		if (exchange.isReplied) disposeBody(done.body)
		else send(exchange, to, done, false)
	})
}

/** The refusal of requests once the server is closed. */
export function closing(): RestError {
	return new RestError('unavailable', 'The server is closing')
}

/** The refusal of any `Expect` other than `100-continue` (RFC 9110 §10.1.1). */
export function unexpected(): RestError {
	return new RestError('expectation_failed', 'The only expectation served is 100-continue')
}
