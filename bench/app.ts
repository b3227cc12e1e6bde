/** What the servers serve: the same records and custom routes for every peer. */
import { seeded, word } from './random.ts'

/** A custom route; `null` stands for a placeholder. */
export interface Route {
	/** Five digits. The response contains it, to show which route was found. */
	readonly number: number
	readonly segments: readonly (string | null)[]
}

/** One record of the list. */
export interface Person {
	readonly id: number
	readonly name: string
	readonly email: string
	readonly age: number
	readonly active: boolean
	readonly created: string
}

/** Sent to every server before it starts. */
export interface App {
	readonly list: readonly Person[]
	readonly routes: readonly Route[]
}

/** Where a route's placeholder stands: `articles/<name>`, `<name>/%s` or `%s/<name>`. */
export type Shape = 'literal' | 'last' | 'first'

/** The app with `count` custom routes of one shape, none by default. */
export function appWith(count = 0, shape: Shape = 'literal'): App {
	const random = seeded(count + 1)
	const routes = Array.from({ length: count }, (_, index) => {
		const name = `${word(random, 4 + random(6))}-${index}`
		return { number: 10_000 + index, segments: segmentsOf(shape, name) }
	})
	return { list: Array.from({ length: 100 }, (_, index) => person(index)), routes }
}

function segmentsOf(shape: Shape, name: string): (string | null)[] {
	if (shape === 'literal') return ['custom', name]
	return shape === 'last' ? [name, null] : [null, name]
}

function person(index: number): Person {
	const random = seeded(index)
	const name = word(random, 8)
	return {
		id: 100_000 + index,
		name: `${name} ${word(random, 10)}`,
		email: `${name}@example.org`,
		age: 20 + random(60),
		active: index % 2 === 0,
		created: new Date(Date.UTC(2026, 0, 1 + index, 9, random(60), random(60), random(1_000))).toISOString(),
	}
}
