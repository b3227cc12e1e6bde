/**
 * `docs/tutorial.md`, read as what its reader is told to do, step by step. The kinds of its code blocks:
 *
 *   ```ts a/b.ts        a file of that name, which is written
 *   ```json a.json      the same
 *   ```sh               commands in the second terminal, which must succeed
 *   ```console          commands in the second terminal, with what they print
 *   ```console server   the first terminal, where a server runs: `$ ` and a command starts one, `^C` stops it, lines
 *                       without either are what it prints meanwhile, and a `$` alone says that it has ended
 */
import { readFileSync } from 'node:fs'
import { ROOT } from '../../helpers/program.ts'

export const PAGE = 'docs/tutorial.md'

/** What is typed, or pressed, and what is said to be printed then. */
export interface Typed {
	/** Of the page, as of all that is here. */
	readonly line: number
	/** Empty where nothing is typed, and a server prints by itself. */
	readonly input: string
	readonly prints: string
}

/** A block, as what is to be done. */
export type Task =
	| { readonly kind: 'file'; readonly line: number; readonly name: string; readonly text: string }
	| { readonly kind: 'sh'; readonly line: number; readonly script: string }
	| { readonly kind: 'console' | 'console server'; readonly line: number; readonly session: readonly Typed[] }

/** A numbered chapter of the page. */
export interface Step {
	readonly title: string
	readonly tasks: readonly Task[]
}

/** The steps of the page. Throws where a block is of no kind that is run, or stands outside of all steps. */
export function stepsOf(text: string = readFileSync(`${ROOT}/${PAGE}`, 'utf8')): Step[] {
	const steps: { title: string; tasks: Task[] }[] = []
	for (const match of text.matchAll(/^```(.*)\n([\s\S]*?)^```$|^## (\d.*)$/gm)) {
		const [, kind = '', code = '', title] = match
		if (title === undefined) {
			const line = text.slice(0, match.index).split('\n').length
			const step = steps.at(-1)
			if (step === undefined) throw new Error(`${PAGE}:${line} is a block before the first step`)
			step.tasks.push(taskOf(kind, code, line))
		} else steps.push({ title, tasks: [] })
	}
	return steps
}

function taskOf(kind: string, code: string, line: number): Task {
	if (kind === 'sh') return { kind, line, script: code }
	if (kind === 'console' || kind === 'console server') return { kind, line, session: sessionOf(code, line) }
	const [, name] = /^(?:ts|json) ((?:[\w-]+\/)*[\w.-]+\.(?:ts|json))$/.exec(kind) ?? []
	if (name === undefined) throw new Error(`${PAGE}:${line} is a block of no kind that is run: ${kind}`)
	return { kind: 'file', line, name, text: code }
}

/** What is typed in a session, whose fence is at `line`. */
function sessionOf(code: string, line: number): Typed[] {
	const session: { line: number; input: string; prints: string }[] = []
	for (const [at, text] of code.trimEnd().split('\n').entries()) {
		const [, input] = /^(?:\$ (?=.)|(?=(?:\$|\^C)$))(.*)$/.exec(text) ?? []
		const last = session.at(-1)
		if (input !== undefined || last === undefined)
			session.push({
				line: line + 1 + at,
				input: input ?? '',
				prints: input === undefined ? `${text}\n` : '',
			})
		else last.prints += `${text}\n`
	}
	return session
}
