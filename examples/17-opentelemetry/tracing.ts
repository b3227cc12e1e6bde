/**
 * An OpenTelemetry span for each request to every server in the process. Its parent is taken from `traceparent`, and it is the
 * current span in the handler's method, so that spans started there are its children.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import {
	type Context,
	type ContextManager,
	defaultTextMapGetter,
	propagation,
	ROOT_CONTEXT,
	type Span,
	SpanKind,
	SpanStatusCode,
	trace,
} from '@opentelemetry/api'
import type { BatchTrace, RequestTrace } from '../../lib/index.ts' // 'verbena'

const contexts = new AsyncLocalStorage<Context>()
const spans = new WeakMap<RequestTrace | BatchTrace, Span>()

/** Tells OpenTelemetry the current span. Register it: `context.setGlobalContextManager(manager)`. */
export const manager: ContextManager = {
	active: () => contexts.getStore() ?? ROOT_CONTEXT,
	with: (context, call, self, ...args) => contexts.run(context, () => call.apply(self as never, args)),
	bind: (context, target) =>
		typeof target !== 'function'
			? target
			: (new Proxy(target, {
					apply: (call, self, args) => contexts.run(context, () => Reflect.apply(call, self, args)),
				}) as typeof target),
	enable: () => manager,
	disable: () => manager,
}

/** Starts creating spans, with the registered tracer provider and propagator. */
export function traceRequests(): void {
	const channel: TracingChannel<Context, RequestTrace> = tracingChannel('verbena:request')
	channel.start.bindStore(contexts, begin)
	channel.subscribe({
		start() {},
		end() {},
		asyncStart() {},
		asyncEnd: end,
		error: (told) =>
			void spans.get(told)?.recordException(told.error instanceof Error ? told.error : String(told.error)),
	})
	const batches: TracingChannel<Context, BatchTrace> = tracingChannel('verbena:batch')
	batches.start.bindStore(contexts, beginBatch)
	batches.asyncEnd.subscribe((told) => spans.get(told as BatchTrace)?.end())
}

function begin(told: RequestTrace): Context {
	const { request } = told
	const parent = propagation.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter)
	const attributes = {
		'http.request.method': request.sentMethod,
		'url.path': request.url.split('?', 1)[0] ?? '',
	}
	const options = { kind: SpanKind.SERVER, attributes }
	const span = trace.getTracer('verbena').startSpan(request.sentMethod, options, parent)
	spans.set(told, span)
	return trace.setSpan(parent, span)
}

/** A statement that reads for several requests is a separate span; it and the spans of the requests are linked to each other. */
function beginBatch(told: BatchTrace): Context {
	const all = told.reads.map((read) => read.runInAsyncScope(() => contexts.getStore() ?? ROOT_CONTEXT))
	const readers = new Set(all.flatMap((context) => trace.getSpan(context) ?? []))
	if (readers.size < 2) return all[0] ?? ROOT_CONTEXT
	const links = [...readers].map((reader) => ({ context: reader.spanContext() }))
	const span = trace.getTracer('verbena').startSpan(`read ${told.table}`, { links, root: true })
	for (const reader of readers) reader.addLink({ context: span.spanContext() })
	spans.set(told, span)
	return trace.setSpan(ROOT_CONTEXT, span)
}

function end(told: RequestTrace): void {
	const span = spans.get(told)
	if (span === undefined) return
	// Names follow OpenTelemetry's semantic conventions: `GET /blog/article/{id}`.
	if (told.route !== undefined) {
		span.updateName(`${told.request.method} ${told.route}`)
		span.setAttribute('http.route', told.route)
	}
	if (told.handler !== undefined)
		span.setAttribute('code.function.name', `${told.handler}.${told.action ?? told.request.method}`)
	if (told.status !== undefined) span.setAttribute('http.response.status_code', told.status)
	if (told.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
	span.end()
}
