/**
 * Versions by folder: each file of `api/` is mounted at its path, and the second version extends the first.
 *
 *     npx tsx examples/13-versions/main.ts
 */
import { createServer, loadHandlers } from '../../lib/index.ts' // 'verbena'

const handlers = await loadHandlers(new URL('./api', import.meta.url))
const { url } = await createServer(handlers).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)
for (const path of Object.keys(handlers)) console.log(`  /${path}`)

/*
$ curl http://127.0.0.1:3000/blog/v1/articles/article/5
{"success":true,"data":"Lemon verbena through the winter"}
$ curl http://127.0.0.1:3000/blog/v2/articles/article/5
{"success":true,"data":{"id":"5","title":"Lemon verbena through the winter"}}
$ curl http://127.0.0.1:3000/blog/v2/articles/count
{"success":true,"data":1}
$ curl http://127.0.0.1:3000/blog/v2/articles/slug/5
{"success":true,"data":"lemon-verbena-through-the-winter"}
$ curl http://127.0.0.1:3000/blog/v1/articles/slug/5
{"success":false,"error":"Not Found","code":"not_found"}
*/
