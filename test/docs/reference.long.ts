/**
 * `npm run reference` creates the API reference without warnings of typedoc: every exported name has a page with a
 * description. Needs the npm registry, as typedoc requires another TypeScript than ours.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, run } from '../helpers/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'verbena-reference-'))

/** The sources of what can be imported, by the names that users write: `verbena/client`. */
function entries(): Map<string, string> {
	const { exports } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
		exports: Record<string, string>
	}
	const modules = Object.entries(exports).filter(([, built]) => built.endsWith('.js'))
	return new Map(
		modules.map(([path, built]) => [
			path.replace('.', 'verbena'),
			built.replace('./dist/', 'lib/').replace(/\.js$/, '.ts'),
		]),
	)
}

/** The names that a source exports: what it declares, and what it passes on. */
function exportedNames(file: string): string[] {
	const text = readFileSync(`${ROOT}/${file}`, 'utf8').replaceAll(/\/\/.*/g, '')
	const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from /gm)]
	const passed = lists.flatMap(([, list = '']) =>
		list.split(',').map((one) => one.trim().split(/\s+/).at(-1)),
	)
	const declared = [...text.matchAll(/^export (?:class|interface|type|function|const) (\w+)/gm)]
	return [...new Set([...passed, ...declared.map(([, name]) => name)])]
		.filter((name) => name !== undefined && name !== '')
		.map(String)
		.sort()
}

/** The names on a module's page, each with the file that it leads to. */
function listed(module: string): Map<string, string> {
	const page = pageOf(`modules/${module.replaceAll('/', '_')}.html`)
	const summaries = [...page.matchAll(/<dt class="tsd-member-summary"[^>]*>([\s\S]*?)<\/dt>/g)]
	return new Map(
		summaries.map(([, html = '']) => {
			const [name = ''] = html.replaceAll(/<[^>]+>/g, '').split('→')
			const [, file = ''] = /<a href="\.\.\/([^"#]+\.html)"/.exec(html) ?? []
			return [name.trim(), file]
		}),
	)
}

function pageOf(file: string): string {
	const [, content = ''] = readFileSync(join(folder, file), 'utf8').split('<div class="col-content">')
	return content
}

/** Whether a page says what its own name is, and not only what its members are. */
function hasComment(file: string): boolean {
	const [own = ''] = pageOf(file).split(/tsd-index-panel|tsd-member-group|tsd-type-declaration/)
	return /class="tsd-comment tsd-typography"><(?:p|ul)>/.test(own)
}

describe('the reference', (test) => {
	test.before(async () => {
		const { code, output } = await run({
			program: 'npm',
			args: ['run', 'reference', '--', '--out', folder],
		})
		assert.is(code, 0, output)
		assert.not.match(output, /\[(?:warning|error)\]/)
	})

	test.after(() => rmSync(folder, { recursive: true, force: true }))

	test('covers every export of the package', () => {
		const { entryPoints } = JSON.parse(readFileSync(`${ROOT}/docs/typedoc/typedoc.json`, 'utf8')) as {
			entryPoints: string[]
		}
		assert.equal(
			entryPoints.map((file) => file.replace('../../', '')),
			[...entries().values()],
		)
		assert.ok(existsSync(join(folder, 'index.html')))
	})

	for (const [module, file] of entries()) {
		test(`${module}: each name has a page with a description`, () => {
			assert.ok(hasComment(`modules/${module.replaceAll('/', '_')}.html`), module)
			const names = listed(module)
			assert.equal([...names.keys()].sort(), exportedNames(file))
			assert.equal(
				[...names].filter(([, page]) => !hasComment(page)).map(([name]) => name),
				[],
			)
		})
	}

	test('its links lead to existing pages and headings', () => {
		const dead: string[] = []
		for (const module of entries().keys()) {
			for (const [, page] of [
				...listed(module),
				['', `modules/${module.replaceAll('/', '_')}.html`] as const,
			]) {
				for (const [, href = ''] of pageOf(page).matchAll(/<a href="(\.\.\/[^"]+)"/g)) {
					const [target = '', anchor] = href.replace('../', '').split('#')
					const text = existsSync(join(folder, target)) ? readFileSync(join(folder, target), 'utf8') : ''
					const isThere = anchor === undefined || text.includes(`id="${anchor}"`)
					if (text === '' || !isThere) dead.push(`${page}: ${href}`)
				}
			}
		}
		assert.equal(dead, [])
	})
})
