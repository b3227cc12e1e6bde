/** A logger that counts its lines, and expected errors separately from all others. */
import type { Logger } from '../../../lib/index.ts'
import type { Logged } from '../reports.ts'
import { CRASH } from './office.ts'

/** The number of lines that are reported with their text. */
const MAX_TEXTS = 5

export class TallyLog implements Logger {
	readonly #counts = { info: 0, warn: 0, expected: 0, unexpected: 0 }
	readonly #first: string[] = []

	info(): void {
		this.#counts.info++
	}

	warn(): void {
		this.#counts.warn++
	}

	error(fields: object, message: string): void {
		if ('action' in fields && fields.action === CRASH) {
			this.#counts.expected++
			return
		}
		this.#counts.unexpected++
		if (this.#first.length < MAX_TEXTS) this.#first.push(`${message}: ${JSON.stringify(fields, plain)}`)
	}

	get logged(): Logged {
		return { ...this.#counts, first: [...this.#first] }
	}
}

/** JSON.stringify writes an Error as `{}`. */
function plain(_name: string, value: unknown): unknown {
	return value instanceof Error ? value.stack : value
}
