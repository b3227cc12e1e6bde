/**
 * Metrics: a page for Prometheus, with the configuration in `prometheus.yml`, and a dashboard for Grafana, `dashboard.json`.
 *
 *     npx tsx examples/19-metrics/main.ts
 */
import { CrudHandler, createServer, MemoryModel } from '../../lib/index.ts' // 'verbena'

const articles = new MemoryModel('article', { key: 'id', fields: { id: 'integer', title: 'text' } })
const server = createServer(
	{
		article: new CrudHandler(articles, {
			visible: 'all',
			creatable: ['title'],
			allow: ['list', 'read', 'create'],
		}),
	},
	{ metrics: true },
)
const { url } = await server.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl http://127.0.0.1:3000/article/1
{"success":false,"error":"Not Found","code":"not_found"}
$ curl -s http://127.0.0.1:3000/metrics
# HELP http_server_request_duration_seconds …
# TYPE http_server_request_duration_seconds histogram
…
http_server_request_duration_seconds_count{method="GET",route="/article/{id}",status="404"} 1
…
*/
