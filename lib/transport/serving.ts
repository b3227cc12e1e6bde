/**
 * `transport/` reads requests and sends replies: over node:http (`node-http.ts`, `send.ts`), `server.fetch()`
 * (`fetch.ts`) and `server.inject()` (`inject.ts`). All three vet the request (`admission.ts`), then call `serve`, or
 * `refuse`. A request passes two lists of steps: `replyTo` below, and `pipeline/answer.ts`, which is the last step of
 * `replyTo`. `server/` makes the `Service` and the listeners.
 */
import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Watched } from '../exchange/watched.ts'
import { explore } from '../explorer/explorer.ts'
import type { UnlistedMount } from '../handler/unlisted.ts'
import type { Observers } from '../observe/watch.ts'
import { answer } from '../pipeline/answer.ts'
import { answerCompressed } from '../reply/compression/compress.ts'
import type { Compression } from '../reply/compression/negotiate.ts'
import { sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import { disposeBody } from '../reply/unsent.ts'
import type { Incoming } from '../request/incoming.ts'
import type { MountTree } from '../routing/routing.ts'
import { type Admission, admit, type Vetting } from './admission.ts'
import type { TickBatcher } from './tick-batcher.ts'

/** What the transports need to serve requests. */
export interface Service extends Admission {
	readonly mounts: MountTree
	readonly vetting: Vetting
	readonly batcher: TickBatcher<Exchange>
	readonly observers: Observers
	/** Handlers that answer before any other step: health and metrics. */
	readonly unlisted: readonly UnlistedMount[]
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
	const isTraced = watch?.isTraced === true
	const reply = isTraced ? watch.run(() => replyTo(service, exchange)) : replyTo(service, exchange)
	if (reply instanceof Promise) sendInTime(exchange, to, send, reply)
	else send(exchange, to, reply, false)
}

/** The steps before the pipeline: closed server, unlisted handlers, admission, compression, explorer. */
function replyTo(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const { app, mounts, unlisted, compression } = service
	if (app.phase === 'closed') return sealError(exchange, closingError())
	// Requests to unlisted handlers are never watched: see `startWatch`.
	if (exchange.watch === undefined) {
		for (const mount of unlisted) {
			const reply = mount.answer(exchange)
			if (reply !== undefined) return reply
		}
	}
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
	const isTraced = watch?.isTraced === true
	const reply = isTraced ? watch.run(() => sealError(exchange, error)) : sealError(exchange, error)
	send(exchange, to, reply, true)
}

/**
 * Begins to watch a request if requests are logged, traced, timed or counted; those to unlisted handlers never are.
 *
 * @param earlier the watch of a request that the same read of sockets has brought
 */
export function startWatch(
	{ observers, unlisted }: Service,
	exchange: Exchange,
	earlier?: Watched | undefined,
): Watched | undefined {
	if (!observers.isActive || isUnlisted(unlisted, exchange.incoming)) return undefined
	const watch = observers.watch(exchange, earlier)
	exchange.watch = watch
	return watch
}

/** Whether a request is to a handler that answers before any other step. */
export function isUnlisted(unlisted: Service['unlisted'], incoming: Incoming): boolean {
	for (const mount of unlisted) if (mount.takes(incoming)) return true
	return false
}

/** The answer to every request once the server is closed. */
export function closingError(): RestError {
	return new RestError('unavailable', 'The server is closing')
}

const CONTINUE = /^(?:[\s,]*\b100-continue\b)+[\s,]*$/i

/** Whether `Expect` has `100-continue` and nothing else: the header is a list (RFC 9110 §10.1.1). */
export function isContinue(expect: string | undefined): boolean {
	return expect !== undefined && CONTINUE.test(expect)
}

/** The answer to any `Expect` other than `100-continue` (RFC 9110 §10.1.1). */
export function expectationError(): RestError {
	return new RestError('expectation_failed', 'The only expectation served is 100-continue')
}
