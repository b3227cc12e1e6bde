/** How pages are tested for people with a screen reader or a keyboard only: axe-core, and the way by Tab. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { ROOT } from '../helpers/program.ts'
import { focused } from './garden.ts'

const AXE = readFileSync(`${ROOT}/node_modules/axe-core/axe.min.js`, 'utf8')

interface Finding {
	readonly id: string
	readonly nodes: readonly { readonly html: string }[]
}

/** All that axe-core finds on a page, as it is; except by these rules. */
export async function findings(page: Page, except: readonly string[] = []): Promise<string[]> {
	await page.evaluate(`${AXE}; 0`)
	const rules = Object.fromEntries(except.map((rule) => [rule, { enabled: false }]))
	const { violations } = (await page.evaluate(`axe.run(${JSON.stringify({ rules })})`)) as {
		violations: readonly Finding[]
	} // its documented answer
	return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

export async function tabTo(page: Page, key: string): Promise<void> {
	for (let presses = 0; presses < 60; presses++) {
		if ((await focused(page)) === key) return
		await page.keyboard.press('Tab')
	}
	throw new Error(`no Tab leads to ${key}`)
}
