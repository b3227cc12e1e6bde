/**
 * Creates records by postgres.js, with a name that leads to the primary and nothing in between, on a machine of its own: as it
 * can't give up a connection, the machine's TCP does. Reports each status. Run by `replicas.long.ts`.
 */
import { setTimeout } from 'node:timers/promises'
import postgres from 'postgres'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { filled, MAX, serving } from '../../helpers/failover.ts'
import { hostName } from '../../helpers/host-name.ts'

const [address = '', port] = process.argv.slice(2)
const name = hostName(address)
process.on('message', (next) => name.to(String(next)))

const times = { connect_timeout: 2, keep_alive: 5 }
const options = { host: name.name, port: Number(port), user: 'app', database: 'postgres', max: MAX, ...times }
const model = await PostgresModel.open(postgres(options), 'article')
const { post } = serving(model)
await filled(model)
await Promise.all(
	Array.from({ length: MAX }, async (_, writer) => {
		for (let count = 0; ; count++) {
			const title = `by name ${writer}-${count}`
			const { status, text } = await post(title)
			process.send?.([title, status === 201 ? '201' : `${status} ${JSON.parse(text()).code}`])
			await setTimeout(20)
		}
	}),
)
