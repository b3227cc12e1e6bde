/** `--watch` while tables change, are being read, or the program is told to stop. */
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

	test('stops at once when it is told to, though tables are being read, and serves nothing anew', async () => {
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
