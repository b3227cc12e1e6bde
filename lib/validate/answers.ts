/**
 * Where a walk gets the answers of schemas from. They may be promises, and a walk is synchronous: so
 * with promises it is taken twice, once to put the questions, and again, in the same order, with the
 * answers at hand.
 */
import type { SchemaAnswer, StandardSchemaV1 } from './standard-schema.ts'

export interface Answers {
	/** Whether this walk only puts questions: checks and defaults, which may have effects, wait. */
	readonly collecting: boolean
	ask(schema: StandardSchemaV1, value: unknown): SchemaAnswer<unknown>
}

/** Asks at once, and takes no promise for an answer: a TypeError that names `getParamsAsync`. */
export const directAnswers: Answers = {
	collecting: false,
	ask(schema, value) {
		const answer = schema['~standard'].validate(value)
		if (!isPromise(answer)) return wellFormed(answer)
		defuse(answer)
		throw new TypeError('this schema answers a promise: use getParamsAsync in place of getParams')
	},
}

/** The first of two walks: puts every question, and passes over what is answered later. */
export class Questions implements Answers {
	readonly collecting = true
	readonly #asked: (SchemaAnswer<unknown> | Promise<SchemaAnswer<unknown>>)[] = []

	ask(schema: StandardSchemaV1, value: unknown): SchemaAnswer<unknown> {
		const answer = schema['~standard'].validate(value)
		this.#asked.push(answer)
		return isPromise(answer) ? { value: undefined } : wellFormed(answer)
	}

	/** For the second walk: the same questions get these answers, in turn. */
	async answered(): Promise<Answers> {
		const answers = (await Promise.all(this.#asked)).values()
		return { collecting: false, ask: () => wellFormed(answers.next().value) }
	}

	/** For a walk that threw: answers still to come are nobody's any more, nor are their rejections. */
	drop(): void {
		this.#asked.forEach(defuse)
	}
}

/** Keeps the rejection of a promise that nobody waits for from ending the process. */
export function defuse(value: unknown): void {
	Promise.resolve(value).catch(() => undefined)
}

function isPromise(value: unknown): value is Promise<SchemaAnswer<unknown>> {
	return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function wellFormed(answer: SchemaAnswer<unknown> | undefined): SchemaAnswer<unknown> {
	if (typeof answer === 'object' && answer !== null) return answer
	throw new TypeError(`a Standard Schema answers { value } or { issues }, got ${String(answer)}`)
}
