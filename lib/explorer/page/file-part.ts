/** The part of a form that takes a file. Its bytes are the body, or, under a name, a part of a form of the web. */
import { el } from './dom.ts'
import type { FileDraft } from './draft.ts'

export interface FilePart {
	readonly element: HTMLElement
	/** Nothing where no file is chosen. */
	body(): File | FormData | undefined
	draft(): FileDraft
	restore(draft: FileDraft): void
}

export function filePart(prefix: string): FilePart {
	const file = el('input', { type: 'file', id: `${prefix}-file`, 'data-key': `${prefix}-file` })
	const part = el('input', {
		...{ type: 'text', id: `${prefix}-part`, 'data-key': `${prefix}-part` },
		...{ autocomplete: 'off', spellcheck: 'false', 'aria-describedby': `${prefix}-part-hint` },
	})
	const hint = 'Empty: the file’s bytes are the body. A name makes a multipart form of it.'
	const element = el(
		'div',
		{ class: 'inputs' },
		el('div', { class: 'field' }, el('label', { class: 'field-head', for: file.id }, 'File'), file),
		el(
			'div',
			{ class: 'field' },
			el('label', { class: 'field-head', for: part.id }, 'Name in a form'),
			part,
			el('p', { class: 'hint', id: `${prefix}-part-hint` }, hint),
		),
	)
	return {
		element,
		body() {
			const chosen = file.files?.[0]
			if (chosen === undefined || part.value === '') return chosen
			const form = new FormData()
			form.append(part.value, chosen)
			return form
		},
		draft: () => ({ files: file.files, part: part.value }),
		restore(draft) {
			file.files = draft.files
			part.value = draft.part
		},
	}
}
