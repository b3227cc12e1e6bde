/**
 * `transport/` reads requests and sends replies: over node:http (`node-http.ts`, `send.ts`), `server.fetch()`
 * (`fetch.ts`) and `server.inject()` (`inject.ts`). All three vet the request (`admission.ts`), then call `serve`, or
 * `refuse`. A request passes two lists of steps: `replyTo` below, whose last step is the other, `pipeline/answer.ts`.
 * `server/` makes the `Service` and the listeners.
 */
import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { explore } from '../explorer/explorer.ts'
import type { Health } from '../health/health.ts'
import { type Observers, Watch } from '../observe/watch.ts'
import { answer } from '../pipeline/answer.ts'
import { answerCompressed } from '../reply/compression/compress.ts'
import type { Compression } from '../reply/compression/negotiate.ts'
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
	readonly observers: Observers
	readonly health: Health | undefined
	/** `undefined` when compression is off. */
	readonly compression: Compression | undefined
}

/**
 * Sends a reply to `to`, which depends on the transport: node's response, for one. `mustClose` closes the
 * connection after it.
 */
export type Send<To> = (exchange: Exchange, to: To, reply: Reply, mustClose: boolean) => void

/** Serves a request: calls `send` once, with the reply, or with an error when the deadline passes first. */
export function serve<To>(service: Service, exchange: Exchange, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? replyTo(service, exchange) : watch.run(() => replyTo(service, exchange))
	if (reply instanceof Promise) sendInTime(exchange, to, send, reply)
	else send(exchange, to, reply, false)
}

/** The steps before the pipeline: closed server, health probes, admission, compression, explorer. */
function replyTo(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const { app, mounts, health, compression } = service
	if (app.phase === 'closed') return sealError(exchange, closingError())
	const probed = health?.answer(exchange)
	if (probed !== undefined) return probed
	const refusal = admit(service, exchange)
	if (refusal !== undefined) return sealError(exchange, refusal)
	const step = app.explorer ? explore : answer
	if (compression === undefined) return step(exchange, mounts)
	return answerCompressed(exchange, compression, () => step(exchange, mounts))
}

/** Waits for the reply. When the deadline passes or the server closes, `interrupt` sends an error instead. */
function sendInTime<To>(exchange: Exchange, to: To, send: Send<To>, pending: Promise<Reply>): void {
	const { deadlines } = exchange.app
	exchange.interrupt = (error) => {
		deadlines.delete(exchange)
		if (!exchange.isReplied) send(exchange, to, sealError(exchange, error), true)
	}
	deadlines.add(exchange)
	void pending.then((reply) => {
		deadlines.delete(exchange)
		if (exchange.isReplied) disposeBody(reply.body)
		else send(exchange, to, reply, false)
	})
}

/** Answers a request with an error without serving it, and closes its connection. */
export function refuse<To>(exchange: Exchange, error: RestError, to: To, send: Send<To>): void {
	const { watch } = exchange
	const reply = watch === undefined ? sealError(exchange, error) : watch.run(() => sealError(exchange, error))
	send(exchange, to, reply, true)
}

/** Begins to watch a request if requests are logged, traced or timed; health probes are never watched. */
export function startWatch({ observers, health }: Service, exchange: Exchange): Watch | undefined {
	if (!observers.isActive || health?.isProbe(exchange.incoming) === true) return undefined
	const watch = new Watch(exchange, observers)
	exchange.watch = watch
	return watch
}

/** The answer to every request once the server is closed. */
export function closingError(): RestError {
	return new RestError('unavailable', 'The server is closing')
}

/** The answer to any `Expect` other than `100-continue` (RFC 9110 §10.1.1). */
export function expectationError(): RestError {
	return new RestError('expectation_failed', 'The only expectation served is 100-continue')
}
