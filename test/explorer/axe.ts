/** How pages are tested for people with a screen reader or a keyboard only: axe-core, and the way by Tab. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { ROOT } from '../helpers/program.ts'
import { focused } from './garden.ts'

const AXE = readFileSync(`${ROOT}/node_modules/axe-core/axe.min.js`, 'utf8')

interface Finding {
	readonly id: string
	readonly impact: string
	readonly nodes: readonly { readonly html: string }[]
}

/** axe-core's findings that are serious or worse. */
export async function findings(page: Page): Promise<string[]> {
	await page.evaluate(`${AXE}; 0`)
	const { violations } = (await page.evaluate('axe.run()')) as { violations: readonly Finding[] } // its documented answer
	return violations
		.filter(({ impact }) => impact === 'serious' || impact === 'critical')
		.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

export async function tabTo(page: Page, key: string): Promise<void> {
	for (let presses = 0; presses < 60; presses++) {
		if ((await focused(page)) === key) return
		await page.keyboard.press('Tab')
	}
	throw new Error(`no Tab leads to ${key}`)
}
