/** Every numbered example runs, and prints what its last lines say; the blog has `examples/blog.test.ts`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, runAll } from '../helpers/program.ts'
import { assertPrints, commandsOf, replay } from '../helpers/session.ts'

/** Numbered files, and the main files of numbered folders; those with packages of their own have tests of their own. */
const examples = readdirSync(`${ROOT}/examples`)
	.filter((name) => name.endsWith('.ts') || /^\d/.test(name))
	.filter((name) => !existsSync(`${ROOT}/examples/${name}/package.json`))
	.map((name) => (name.endsWith('.ts') ? name : `${name}/main.ts`))

function pathOf(name: string): string {
	return `${ROOT}/examples/${name}`
}

function sourceOf(name: string): string {
	return readFileSync(pathOf(name), 'utf8')
}

/** What stands in the comment that ends an example. */
function endOf(name: string): string {
	return /\/\*\n([\s\S]*)\*\/\n$/.exec(sourceOf(name))?.[1] ?? ''
}

describe('examples', (test) => {
	for (const name of examples) {
		test(`${name} is short, says how to run it and what it prints`, () => {
			const source = sourceOf(name)
			assert.ok(source.split('\n').length <= 41, `${name} has more than 40 lines`)
			const [head = ''] = /^\/\*\*\n[\s\S]*?\*\/\n/.exec(source) ?? []
			assert.match(head, `\n *     npx tsx examples/${name}\n */\n`)
			assert.match(source, /'(\.\.\/)+lib\/index\.ts' \/\/ (you write )?'verbena'\n/)
			assert.ok(endOf(name) !== '', `${name} doesn't end with what it prints`)
		})
	}

	test('each prints what it says', async () => {
		const { reports, stop } = await runAll(examples.map(pathOf))
		try {
			for (const name of examples) {
				const { printed, failure, port } = reports.get(pathOf(name)) ?? { failure: 'no report' }
				assert.is(failure, '', name)
				if (commandsOf(endOf(name)).length > 0) await replay(endOf(name), port ?? 0, ROOT)
				else assertPrints(printed ?? '', endOf(name), name)
			}
		} finally {
			await stop()
		}
	})
})
