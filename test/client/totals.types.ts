/** What the client's types accept and refuse of totals: see `helpers/types.ts`. */
import { CrudClient, type Many } from '../../lib/client/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

interface Customer {
	readonly id: number
	readonly name: string
	readonly since: string
}

interface Order {
	readonly id: number
	readonly status: 'paid' | 'open'
	readonly amount: string | null
	readonly pieces: number
	readonly created: string
	readonly sent: string | null
}

const orders = new CrudClient<Order, { customer: Customer; notes: Many<{ readonly text: string }> }>(
	'order',
	'/shop',
)
const anything = new CrudClient('order', '/shop')

types('client: types of totals', (say) => {
	say('groups have their keys and totals, by the types of the fields', async () => {
		const [group] = await orders.totals({ by: ['status', 'amount'], count: true, sum: ['amount', 'pieces'] })
		if (group === undefined) return
		same<Same<typeof group.status, 'paid' | 'open'>>()
		same<Same<typeof group.amount, string | null>>()
		same<Same<typeof group.count, number>>()
		same<Same<typeof group.sum.amount, string | null>>()
		same<Same<typeof group.sum.pieces, number | null>>()
		// @ts-expect-error: not asked for
		void group.avg
		// @ts-expect-error: not one of the keys
		void group.id
	})

	say('averages are strings, or numbers for those of floats', async () => {
		const [group] = await orders.totals({ avg: ['amount', 'pieces'], max: ['created'], min: ['pieces'] })
		if (group === undefined) return
		same<Same<typeof group.avg.amount, string | null>>()
		same<Same<typeof group.avg.pieces, string | number | null>>()
		same<Same<typeof group.max.created, string | null>>()
		same<Same<typeof group.min.pieces, number | null>>()
		// @ts-expect-error: not asked for
		void group.count
	})

	say('parts of times and fields of related records are keys', async () => {
		const [group] = await orders.totals({
			by: ['created:month', 'sent:day', 'customer.name', 'customer.since:year'],
			sort: ['-created', 'customer.name'],
		})
		if (group === undefined) return
		same<Same<typeof group.created, string>>()
		same<Same<typeof group.sent, string | null>>()
		same<Same<(typeof group)['customer.name'], string | null>>()
		same<Same<(typeof group)['customer.since'], string | null>>()
	})

	say('unknown names are refused', () => [
		// @ts-expect-error: there is no such field
		() => orders.totals({ by: ['state'] }),
		// @ts-expect-error: there is no such part
		() => orders.totals({ by: ['created:decade'] }),
		// @ts-expect-error: there may be many
		() => orders.totals({ by: ['notes.text'] }),
		// @ts-expect-error: there is no such field
		() => orders.totals({ sum: ['total'] }),
		// @ts-expect-error: not asked for
		() => orders.totals({ sum: ['amount'], sort: ['sum.pieces'] }),
		// @ts-expect-error: not asked for
		() => orders.totals({ sum: ['amount'], having: { 'sum.pieces': { gt: 1 } } }),
		// @ts-expect-error: there is no such parameter
		() => orders.totals({ group: ['status'] }),
	])

	say('having compares what is asked for', () => [
		() => orders.totals({ sum: ['amount'], having: { 'sum.amount': { gt: '100' }, or: [{ count: 1 }] } }),
		() => orders.totals({ by: ['status'], count: true, having: { not: { count: { lt: 2n } } } }),
	])

	say('records with arbitrary fields have arbitrary totals', async () => {
		const [group] = await anything.totals({ by: ['a', 'b:month'], sum: ['c'], count: true })
		return group?.count
	})
})
