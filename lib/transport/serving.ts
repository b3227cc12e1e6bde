/** Serves requests of a node server: makes the exchange, waits for its answer, and sends it. */
import type { Socket } from 'node:net'
import { RestError } from '../base/error.ts'
import { Exchange } from '../exchange/exchange.ts'
import { explore, isMapBehind } from '../explorer/explorer.ts'
import type { Health } from '../health/health.ts'
import type { Watching } from '../observe/watch.ts'
import { answer } from '../pipeline/answer.ts'
import { answerCompressed } from '../reply/compression/compress.ts'
import type { Compression } from '../reply/compression/compression.ts'
import { sealError } from '../reply/error-reply.ts'
import type { Reply } from '../reply/headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import type { MountTree } from '../routing/mount.ts'
import { type Admission, admit } from './admission.ts'
import { Departure } from './departure.ts'
import type { Outgoing } from './outgoing.ts'
import { discard, send } from './send.ts'
import type { Turns } from './turns.ts'
import type { Vetting } from './vet.ts'
import { watchOf, watchOver } from './watch-over.ts'

/** What a listener serves. */
export interface Service extends Admission {
	readonly mounts: MountTree
	readonly turns: Turns<Exchange>
	readonly watching: Watching
	readonly health: Health | undefined
	/** `undefined` where answers go out as they are. */
	readonly compression: Compression | undefined
}

/** Serves one request. `awaitsContinue` when the client waits for `100 Continue` before it sends its body. */
export function serve(
	service: Service,
	vetting: Vetting,
	incoming: Incoming,
	response: Outgoing,
	awaitsContinue = false,
): void {
	const exchange = new Exchange(service.app, incoming)
	exchange.connection = response.stream ?? response
	if (isBehind(response) && incoming.socket !== null) {
		if (!service.app.pipelines.enter(incoming.socket, response)) return
		// Only node:http queues responses, and its requests have a net.Socket.
		exchange.connection = new Departure(incoming.socket as Socket, response)
	}
	if (awaitsContinue) {
		exchange.sendContinue = () => {
			exchange.sendContinue = undefined
			response.writeContinue()
		}
	}
	const watch = watchOf(service, exchange)
	if (watch !== undefined) watchOver(watch, exchange, response)
	const refusal = vetting.check(incoming)
	if (refusal !== undefined) {
		send(exchange, response, refused(exchange, refusal), true)
		return
	}
	// setImmediate and nextTick keep the caller's async context for each: a tracer's span belongs to its request.
	if (awaitsContinue) answerNow(service, exchange, response)
	else if (service.turns.defers(exchange)) setImmediate(answerInTurn, service, exchange, response)
	// node has the body that came with the headers one tick later.
	else if (incoming.headers['content-length'] !== undefined)
		process.nextTick(answerNow, service, exchange, response)
	else answerNow(service, exchange, response)
}

function answerInTurn(service: Service, exchange: Exchange, response: Outgoing): void {
	service.turns.end()
	answerNow(service, exchange, response)
}

function answerNow(service: Service, exchange: Exchange, response: Outgoing): void {
	const reply = answerUnlessClosed(service, exchange)
	if (reply instanceof Promise) wait(exchange, response, reply)
	else send(exchange, response, reply)
}

/** Whether a request came before its predecessor's answer was written, or after the last of its connection. */
function isBehind({ socket }: Outgoing): boolean {
	return socket === null || socket?.writableEnded === true
}

/**
 * Whether a request's path leads to a mount, to health, or to the map: what doesn't is left to whoever stands behind us.
 * A path that we would refuse (`//`, a malformed escape) may be right there.
 */
export function isOurs({ app, mounts, health }: Service, incoming: Incoming): boolean {
	if (health?.probeOf(incoming) !== undefined) return true
	const { url = '' } = incoming
	try {
		const { segments } = parseTarget(url)
		if (segments.length === 0 && app.explorer && isMapBehind(incoming)) return true
		return mounts.find(segments) !== undefined
	} catch {
		return mounts.find(url.split('/').slice(1)) !== undefined
	}
}

/** The answer; none but a 503 once the server is closed. */
export function answerUnlessClosed(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const { watch } = exchange
	return watch === undefined ? answered(service, exchange) : watch.run(() => answered(service, exchange))
}

function answered(service: Service, exchange: Exchange): Reply | Promise<Reply> {
	const { app, mounts, health, compression } = service
	if (app.phase === 'closed') return sealError(exchange, closing())
	const told = health?.answer(exchange)
	if (told !== undefined) return told
	const refusal = admit(service, exchange)
	if (refusal !== undefined) return sealError(exchange, refusal)
	const step = app.explorer ? explore : answer
	if (compression === undefined) return step(exchange, mounts)
	return answerCompressed(exchange, compression, () => step(exchange, mounts))
}

/** The answer to a request that isn't looked at any further. */
export function refused(exchange: Exchange, error: RestError): Reply {
	const { watch } = exchange
	return watch === undefined ? sealError(exchange, error) : watch.run(() => sealError(exchange, error))
}

/** The answer of whoever comes when the server is closed. */
export function closing(): RestError {
	return new RestError('unavailable', 'The server is closing')
}

/** Sends the answer when it comes, or what replaces it when its time is over. */
function wait(exchange: Exchange, response: Outgoing, reply: Promise<Reply>): void {
	const { deadlines } = exchange.app
	exchange.interrupt = (error) => {
		deadlines.delete(exchange)
		if (!exchange.replied) send(exchange, response, sealError(exchange, error), true)
	}
	deadlines.add(exchange)
	// `answer` turns every error into a reply: this promise never rejects.
	void reply.then((done) => {
		deadlines.delete(exchange)
		if (exchange.replied) discard(done)
		else send(exchange, response, done)
	})
}

/** Refuses an expectation other than `100-continue` (RFC 9110 §10.1.1). */
export function refuseExpectation(service: Service, incoming: Incoming, response: Outgoing): void {
	const exchange = new Exchange(service.app, incoming)
	const watch = watchOf(service, exchange)
	if (watch !== undefined) watchOver(watch, exchange, response)
	send(exchange, response, refused(exchange, unexpected()), true)
}

/** The answer to an expectation that isn't served. */
export function unexpected(): RestError {
	return new RestError('expectation_failed', 'The only expectation served is 100-continue')
}
