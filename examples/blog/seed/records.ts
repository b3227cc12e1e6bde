/** Types of the blog's initial records; each has a number, by which others refer to it. */

export interface Author {
	readonly number: number
	readonly name: string
	readonly email: string
	readonly about: string
	/** The day, `2026-11-20`. */
	readonly joined: string
}

export interface Article {
	readonly number: number
	readonly author: number
	readonly topic: string
	readonly tags: readonly string[]
	readonly title: string
	readonly body: string
	/** RFC 3339, in UTC. */
	readonly published: string
}

export interface Comment {
	/** The article's number. */
	readonly article: number
	readonly name: string
	readonly text: string
	readonly written: string
}
