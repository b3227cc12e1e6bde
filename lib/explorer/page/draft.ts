/** What was typed into a form: kept while the page is made anew. */

/** What a body is made from: controls for its fields, its JSON, or a file. */
export type BodyMode = 'fields' | 'json' | 'file'

export interface Draft {
	readonly mode: BodyMode
	/** By field, the state of its control; nothing of those that nobody has touched. */
	readonly fields: ReadonlyMap<string, string>
	readonly json: string
	readonly file: FileDraft | undefined
}

export interface FileDraft {
	readonly files: FileList | null
	/** The name of the file's part of a form; empty where the bytes are the body. */
	readonly part: string
}
