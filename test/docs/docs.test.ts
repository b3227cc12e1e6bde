/**
 * The documentation is tested: its programs run (`programs.long.ts`) and compile (`compile.long.ts`), its curl lines print what
 * it shows, and its links work. The kinds of code blocks:
 *
 *   ```ts           a program, run as it is ('verbena' and its subpaths are the sources)
 *   ```ts a/b.ts    a module of that name beside the page's programs, which import or load it
 *   ```ts members   members of a handler, which is mounted at `api`
 *   ```console      curl lines for the program above, with what they print
 *   ```text         what the program above prints
 *   ```sh           commands for the reader; npm scripts in them exist
 *   ```js           a program with a library that we don't have, which a `.long.ts` runs
 *   ```nginx, haproxy, ini of docs/deployment.md: `deployment/` runs them
 *   ```json, css …  are not looked at
 *
 * The tutorial is one program that grows: `tutorial.long.ts` runs its blocks, and `tutorial/page.ts` says how they are
 * marked. Its links, npm scripts and kinds of blocks are checked here.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { settingsOf } from '../../lib/server/options.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'
import { commandsOf } from '../helpers/session.ts'
import { rowsOf } from '../helpers/tables.ts'
import { blocks, blocksOf, isProgram, moduleName, ownPages, pages, textOf, where } from './blocks.ts'
import { stepsOf } from './tutorial/page.ts'

describe('documentation', (test) => {
	test('every code block is of a kind that is checked, and comes after what it needs', () => {
		const kinds = /^(?:ts|ts members|js|console|text|sh|json|nginx|haproxy|ini|dockerfile)$/
		const unknown = blocks.filter((block) => !kinds.test(block.kind) && moduleName(block) === undefined)
		assert.equal(unknown.map(where), [])
		assert.ok(stepsOf().length > 0) // which throws at a block of no kind
		const alone = ownPages.flatMap((page) => {
			const own = blocksOf(page)
			return own
				.slice(0, own.findIndex(isProgram))
				.filter(({ kind }) => kind === 'console' || kind === 'text')
		})
		assert.equal(alone.map(where), [])
	})

	test('every console block contains only commands', () => {
		const sessions = blocks.filter(({ kind }) => kind === 'console')
		assert.equal(sessions.filter(({ code }) => !code.startsWith('$ curl ')).map(where), [])
		assert.ok(sessions.flatMap(({ code }) => commandsOf(code)).length > 30)
	})

	test('npm scripts it names exist', () => {
		const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
		for (const page of pages) {
			for (const [, script = ''] of textOf(page).matchAll(
				/\bnpm (?:run )?((?:test|start|cover|check|format|bench|build|explorer|screenshots|reference)\b[:\w]*)/g,
			)) {
				assert.ok(script in scripts, `${page} names npm run ${script}`)
			}
		}
	})

	test('links lead to files and headings that exist', () => {
		assert.equal(pages.flatMap(deadLinks), [])
	})

	test('the options table matches lib/', () => {
		const settings: Readonly<Record<string, unknown>> = settingsOf({})
		const rows = rowsOf('docs/server.md', '## Options')
		assert.equal(rows.map(([name]) => name).sort(), Object.keys(settings).sort())
		for (const [name = '', what = '', range = '', value = ''] of rows) {
			assert.ok(what !== '' && range !== '' && value !== '', `${name} lacks a cell`)
			const limit = settings[name]
			if (typeof limit !== 'number') continue
			assert.is(value, limit.toLocaleString('en').replaceAll(',', '_'), name)
			assert.is(range, rangeOf(name), name)
		}
	})

	test('the README has the two set-up commands and fits on a few screens', () => {
		const readme = textOf('README.md')
		assert.match(readme, '\nnpm ci && npm start\n')
		assert.match(readme, '\nnpm ci && npm test\n')
		// Its programs are whole ones, with their class and mount.
		assert.ok(readme.split('\n').length <= 400, 'README.md has more than 400 lines')
	})
})

/** The unit and the bounds of a number, as `createServer` names them where it refuses one. */
function rangeOf(name: string): string {
	const refusal = /of (\w+) from ([\d.]+) to (\d+)(, or Infinity)?, got 0$/
	try {
		settingsOf({ [name]: 0 })
	} catch (error) {
		const [, unit, least, most, open = ''] = refusal.exec(String(error)) ?? []
		const long = Number(most).toLocaleString('en')
		return `${unit}, ${least} to ${long}${open.replace(',', '')}`
	}
	return 'anything'
}

/** The relative links of a page that lead nowhere. */
function deadLinks(page: string): string[] {
	const prose = textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, '')
	const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
	return links
		.filter((link) => !/^https?:/.test(link) && !leads(page, link))
		.map((link) => `${page}: ${link}`)
}

function leads(page: string, link: string): boolean {
	const [path = '', heading] = link.split('#')
	const target = path === '' ? page : join(dirname(page), path)
	if (!existsSync(`${ROOT}/${target}`)) return false
	return heading === undefined || headingsOf(target).includes(heading)
}

/** The anchors that GitHub makes of a page's headings. */
function headingsOf(page: string): string[] {
	const titles = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
	return titles.map((title) =>
		title
			.toLowerCase()
			.replaceAll(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	)
}
