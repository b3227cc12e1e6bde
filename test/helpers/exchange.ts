/** Creates exchanges to test single steps with; the request is plain data over a stream. */
import { Readable } from 'node:stream'
import { Deadlines } from '../../lib/base/deadlines.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import type { App } from '../../lib/exchange/app.ts'
import { Exchange } from '../../lib/exchange/exchange.ts'
import { Pipelines } from '../../lib/exchange/http-pipelining.ts'
import { UnsentAnswers } from '../../lib/exchange/unsent-answers.ts'
import type { Incoming } from '../../lib/request/incoming.ts'
import { proxiesOf } from '../../lib/transport/proxies.ts'
import { Log } from './listening.ts'

/** Server settings, with defaults; the clock stays at 0. */
export function appOf(settings: Partial<App> = {}): App {
	return {
		cache: new MemoryCache({ max: 10 }),
		logger: new Log(),
		authenticator: undefined,
		acl: undefined,
		validator: undefined,
		deadlines: new Deadlines(() => 0, 1_000),
		pipelines: new Pipelines(),
		unsent: new UnsentAnswers(268_435_456),
		maxBody: 1_048_576,
		bodyTimeout: 60_000,
		handlerTimeout: 30_000,
		sendTimeout: 60_000,
		requestId: undefined,
		proxies: proxiesOf(undefined),
		cors: undefined,
		explorer: false,
		phase: 'open',
		...settings,
	}
}

/** A request; its body is `stream`, or none. */
export function exchangeFor(
	facts: Partial<Incoming> = {},
	app: App = appOf(),
	stream: Readable = Readable.from([], { objectMode: false }),
): Exchange {
	const incoming = Object.assign(stream, {
		method: 'GET',
		url: '/',
		headers: {},
		rawHeaders: [],
		httpVersionMajor: 1,
		httpVersionMinor: 1,
		socket: null,
		complete: false,
		...facts,
	})
	return new Exchange(app, incoming)
}
