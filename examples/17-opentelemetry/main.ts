/**
 * OpenTelemetry: each request is a span below the caller's span, and above the spans that its method starts.
 *
 *     cd examples/17-opentelemetry && npm ci && npx tsx main.ts
 */
import { context, propagation, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createServer, RestHandler } from '../../lib/index.ts' // 'verbena'
import { manager, traceRequests } from './tracing.ts'

// In production a BatchSpanProcessor with the exporter of @opentelemetry/exporter-trace-otlp-http.
const provider = new BasicTracerProvider({
	spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())],
})
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(manager)
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
traceRequests()

class Blog extends RestHandler {
	get_article(id: string) {
		return trace.getTracer('blog').startActiveSpan('find', async (span) => {
			await new Promise((resolve) => setImmediate(resolve)) // in place of a query
			span.end()
			return { id, title: 'Lemon verbena' }
		})
	}
}

const { url } = await createServer({ blog: new Blog() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl -H 'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' http://127.0.0.1:3000/blog/article/5
{"success":true,"data":{"id":"5","title":"Lemon verbena"}}

and two spans of trace 4bf92f3577b34da6a3ce929d0e0e4736 on the console: `find`, whose parent is `GET /blog/article/{id}`,
whose parent is 00f067aa0ba902b7.
*/
