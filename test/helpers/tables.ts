/** Reads tables of the documentation, for tests that compare them with the code. */
import { readFileSync } from 'node:fs'
import { ROOT } from './program.ts'

/** The cells of the first table under a heading of a page, without backticks. */
export function rowsOf(page: string, heading: string): string[][] {
	const section = readFileSync(`${ROOT}/${page}`, 'utf8').split(`\n${heading}\n`)[1] ?? ''
	const [table = ''] = /(?:^\|.*\n)+/m.exec(section) ?? []
	const [, , ...rows] = table.trim().split('\n')
	const plain = (cell: string) => cell.replaceAll('`', '').trim()
	return rows.map((row) => row.split('|').slice(1, -1).map(plain))
}
