/** What the blog keeps. */

export interface Author {
	readonly id: number
	readonly name: string
	readonly about: string
}

export interface Article {
	readonly id: number
	readonly authorId: number
	/** The day, `2026-11-20`. */
	readonly published: string
	readonly tags: readonly string[]
	readonly title: string
	readonly body: string
}

export interface Comment {
	readonly id: number
	readonly articleId: number
	readonly name: string
	readonly text: string
}
