/**
 * The terminal in which a reader types everything but the server: a folder and variables, which each command leaves to
 * the next, as in one shell.
 */
import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { curl } from '../../helpers/curl.ts'
import { startAlone } from './alone.ts'

/** What bash does at its end, so that the next begins there. `>|` as the script may have set noclobber. */
const REMEMBER = `trap 'pwd >| "$TUTORIAL_STATE.folder"; env -0 >| "$TUTORIAL_STATE.env"' EXIT`

/** Variables by which an npm that runs these tests would tell the reader's npm where it is. */
const OF_NPM = /^(?:npm_(?:package|lifecycle|command|execpath|node_execpath|config_local_prefix)|INIT_CWD$)/

export class SecondTerminal {
	/** Where the reader is. */
	folder: string
	#env: Readonly<Record<string, string>>
	readonly #state: string

	/** Begins in `folder`; `state` is a path beside it for what is remembered. */
	constructor(folder: string, state: string) {
		this.folder = folder
		this.#state = state
		this.#env = readersEnv()
	}

	get env(): Readonly<Record<string, string>> {
		return this.#env
	}

	/** Runs a script by bash, up to its first command that fails. Answers what it has printed. */
	async run(script: string): Promise<string> {
		const env = { ...this.#env, TUTORIAL_STATE: this.#state }
		const bash = startAlone('bash', ['-e', '-c', `${REMEMBER}\n${script}`], this.folder, env)
		const code = await bash.ended
		if (code !== 0) throw new Error(`it has ended with ${code}, and printed:\n${bash.output()}`)
		this.folder = readFileSync(`${this.#state}.folder`, 'utf8').trimEnd()
		const { TUTORIAL_STATE: _, ...left } = parsed(readFileSync(`${this.#state}.env`, 'utf8'))
		this.#env = left
		for (const ending of ['folder', 'env']) rmSync(`${this.#state}.${ending}`)
		return bash.output()
	}

	/** What a line of curl prints; variables are put in where a shell does it for a reader, within `"`. */
	curl(line: string): Promise<string> {
		const whole = line.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) =>
			quoted.startsWith("'") ? quoted : quoted.replaceAll(/\$(\w+)/g, (_, name) => this.#valueOf(name)),
		)
		return curl(whole, this.folder)
	}

	#valueOf(name: string): string {
		const value = this.#env[name]
		if (value === undefined) throw new Error(`$${name} was never exported`)
		return value
	}
}

/** The environment of somebody who has just opened a terminal, with the Node that runs the tests. */
function readersEnv(): Record<string, string> {
	const {
		NODE_V8_COVERAGE: _coverage,
		NODE_OPTIONS: _options,
		NO_COLOR: _colours,
		...inherited
	} = process.env
	const env: Record<string, string> = {}
	for (const [name, value] of Object.entries(inherited)) {
		if (value !== undefined && !OF_NPM.test(name)) env[name] = value
	}
	return {
		...env,
		...{ PATH: `${dirname(process.execPath)}:${env.PATH ?? ''}`, FORCE_COLOR: '0' },
		...{ npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' },
		...{ npm_config_prefer_offline: 'true', npm_config_dry_run: 'false' },
	}
}

function parsed(text: string): Record<string, string> {
	const pairs = text.split('\0').filter((pair) => pair !== '')
	return Object.fromEntries(
		pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
	)
}
