/** `--watch`: tables that change, also while they are read, and stopping the program. */
import * as assert from 'uvu/assert'
import { parseCommand } from '../../lib/cli/arguments.ts'
import { serve } from '../../lib/cli/serve.ts'
import type { Source } from '../../lib/cli/source.ts'
import { MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'

const command = parseCommand(['fake.json', '--watch', '--port', '0'], {})
if (typeof command === 'string') throw new Error('no command')

/** The models of tables with these names. */
function models(...names: string[]): Record<string, MemoryModel> {
	const table = (name: string) => new MemoryModel(name, { fields: { id: 'integer' }, key: 'id' })
	return Object.fromEntries(names.map((name) => [name, table(name)]))
}

const close = async () => {}

describe('watching', (test) => {
	test('serves what has changed while it was being read', async () => {
		let version = 1
		const source: Source = {
			...{ place: 'fake', close, stamp: async () => String(version) },
			async open() {
				const read = version
				version = 2
				return models(`t${read}`)
			},
		}
		const serving = await serve(command, source, () => {}, 20)
		await until(
			async () => (await fetch(`${serving.url}/t2`).catch(() => undefined))?.status === 200,
			'the change is served',
		)
		await serving.close()
	})

	test('does not read a file again that has not changed', async () => {
		let [stamps, opened] = [0, 0]
		const source: Source = {
			...{ place: 'fake', close },
			async stamp() {
				stamps++
				return 'same'
			},
			async open() {
				opened++
				return models('t')
			},
		}
		const serving = await serve(command, source, () => {}, 20)
		await until(() => stamps >= 3, 'three looks')
		await serving.close()
		assert.is(opened, 1)
	})

	test('prints names of the database without their control characters', async () => {
		const name = 'x\u001b]0;title\u0007\u001b[31m\nred'
		const printed: string[] = []
		let isGone = false
		const source: Source = {
			...{ place: 'fake', close },
			async open() {
				if (isGone) throw new TypeError(`there is no table ${name}`)
				return models('t')
			},
		}
		const serving = await serve(command, source, (text) => printed.push(text), 20)
		isGone = true
		await until(() => printed.length > 1, 'the failure is told')
		await serving.close()
		const shown = 'x\\u001b]0;title\\u0007\\u001b[31m\\nred'
		assert.is(printed[1], `fake: there is no table ${shown}`)
		const others: Source = { ...source, open: async () => models(name) }
		const refusal = await serve({ ...command, tables: ['gone'] }, others, () => {}).catch(String)
		assert.is(refusal, `Error: fake has no table gone; there are ${shown}`)
		const empty = new MemoryModel('t', { fields: {}, key: [] })
		const nothing: Source = { ...source, open: async () => ({ [name]: empty, t: empty }) }
		const lines = await serve(command, nothing, () => {}).catch(String)
		assert.is(
			lines,
			`Error: fake has no table that can be served:\n  ${shown}: it has no columns\n  t: it has no columns`,
		)
	})

	test('stops at once, even while tables are being read, and serves nothing new', async () => {
		const printed: string[] = []
		let answer: (() => void) | undefined
		const first = models('t')
		const source: Source = {
			...{ place: 'fake', close },
			open: async () => {
				if (printed.length === 0) return first
				await new Promise<void>((resolve) => {
					answer = resolve
				})
				return models('t', 'u')
			},
		}
		const serving = await serve(command, source, (text) => printed.push(text), 20)
		await until(() => answer !== undefined, 'tables are read')
		const closed = serving.close()
		const isClosed = () =>
			fetch(`${serving.url}/t`).then(
				() => false,
				() => true,
			)
		await until(isClosed, 'the port is closed')
		answer?.()
		await closed
		assert.is(printed.length, 1)
	})
})
