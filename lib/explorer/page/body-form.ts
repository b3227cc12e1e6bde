/** A form for a request with a body: a control for each field of the model, the JSON itself, or a file. */
import type { OperationData } from '../page-data.ts'
import { prettyJson } from '../pretty-json.ts'
import type { Problem } from './answer-view.ts'
import type { App, BodyMode, FileDraft } from './app.ts'
import type { Body } from './curl.ts'
import { copyButton, lineFor } from './curl-box.ts'
import { button, el } from './dom.ts'
import { type FieldControl, fieldControl } from './field-control.ts'
import { fieldsOf, initialOf, sameJson } from './fields.ts'
import type { JsonValue } from './json-value.ts'

export interface BodyForm {
	readonly element: HTMLFormElement
	/** Shows problems beside their fields, and those of no field above them; the first has the focus then. */
	complain(message: string, problems: readonly Problem[], ...more: readonly HTMLElement[]): void
}

interface Form {
	readonly app: App
	readonly operation: OperationData
	readonly controls: readonly FieldControl[]
	readonly raw: HTMLTextAreaElement
	readonly file: FilePart | undefined
	/** What there is to choose from, the usual one first. */
	readonly modes: readonly BodyMode[]
	mode: BodyMode
}

/** `send` is called with the body; `undefined` where there is none. */
export function bodyForm(
	app: App,
	operation: OperationData,
	record: JsonValue | undefined,
	send: (body: Body | undefined, form: BodyForm) => void,
): BodyForm {
	const prefix = operation.method.toLowerCase()
	const form = formOf(app, operation, prefix, record)
	const alert = el('div', { class: 'alert', role: 'alert' })
	const element = el(
		'form',
		{ novalidate: true, autocomplete: 'off' },
		alert,
		...partsOf(form),
		el(
			'div',
			{ class: 'form-foot' },
			el(
				'button',
				{ type: 'submit', class: 'primary', 'data-key': `${prefix} send` },
				wordFor(operation.method),
			),
			...switchesOf(form),
			copyButton(() => curlOf(form), 'Copy as curl'),
		),
	)
	const made: BodyForm = {
		element,
		complain: (message, problems, ...more) => complain(form, alert, message, problems, more),
	}
	// Whatever makes the page anew, what was typed stays.
	element.addEventListener('input', () => keepDraft(form))
	element.addEventListener('submit', (event) => {
		event.preventDefault()
		keepDraft(form)
		made.complain('', [])
		const body = bodyOf(form)
		if (form.mode !== 'file' || body !== undefined) return send(body, made)
		made.complain('Choose a file first.', [])
		focusIn(form.file?.element)
	})
	return made
}

function formOf(app: App, operation: OperationData, prefix: string, record: JsonValue | undefined): Form {
	const specs = fieldsOf(operation.body)
	const controls = (specs ?? []).map((spec) => fieldControl(prefix, spec, initialOf(record, spec.name)))
	const modes: readonly BodyMode[] = specs === undefined ? ['json'] : ['fields', 'json']
	const raw = el('textarea', { class: 'json', rows: '8', spellcheck: 'false', id: `${prefix}-json` })
	const file = takesFile(operation) ? filePart(prefix) : undefined
	const withFile: readonly BodyMode[] = operation.isStreaming ? ['file', ...modes] : [...modes, 'file']
	const all = file === undefined ? modes : withFile
	const form: Form = { app, operation, controls, raw, file, modes: all, mode: all[0] ?? 'json' }
	restoreDraft(form)
	return form
}

/** What reads a stream takes any bytes; and what doesn't say what it takes may. */
function takesFile({ method, body, isStreaming }: OperationData): boolean {
	return isStreaming || (body === undefined && method !== 'QUERY' && method !== 'DELETE')
}

/** A part for each mode; those of the others are hidden. */
function partsOf({ controls, raw, file, modes, mode }: Form): HTMLElement[] {
	const parts: Readonly<Record<BodyMode, () => HTMLElement | undefined>> = {
		fields: () => el('div', { class: 'inputs' }, ...controls.map(({ element }) => element)),
		json: () => el('div', {}, el('label', { for: raw.id }, 'JSON'), raw),
		file: () => file?.element,
	}
	return modes.flatMap((one) => {
		const part = parts[one]()
		if (part === undefined) return []
		part.dataset.mode = one
		part.hidden = one !== mode
		return [part]
	})
}

const MODE_WORDS: Readonly<Record<BodyMode, string>> = { fields: 'Fields', json: 'JSON', file: 'File' }

/** A button for each other mode. The focus goes along, as the button goes away. */
function switchesOf(form: Form): HTMLElement[] {
	if (form.modes.length === 1) return []
	const switches = form.modes.map((mode) => {
		const change = button(MODE_WORDS[mode], { class: 'small', hidden: mode === form.mode }, () => {
			if (form.mode === 'fields' && mode === 'json') form.raw.value = prettyJson(jsonOf(form))
			form.mode = mode
			for (const one of switches) one.hidden = one === change
			for (const part of change.form?.querySelectorAll<HTMLElement>('[data-mode]') ?? []) {
				part.hidden = part.dataset.mode !== mode
				if (!part.hidden) focusIn(part)
			}
			keepDraft(form)
		})
		return change
	})
	return switches
}

function focusIn(part: HTMLElement | undefined): void {
	part?.querySelector<HTMLElement>('input, select, textarea')?.focus()
}

const WORDS: Readonly<Record<string, string>> = {
	...{ POST: 'Create', PATCH: 'Save changes', PUT: 'Replace', DELETE: 'Delete…' },
}

function wordFor(method: string): string {
	return WORDS[method] ?? `Send ${method}`
}

function bodyOf(form: Form): Body | undefined {
	const { mode, raw, file } = form
	if (mode === 'file') return file?.body()
	if (mode === 'fields') return jsonOf(form)
	return raw.value.trim() === '' ? undefined : raw.value
}

/** What the fields say: of a change only what has changed. */
function jsonOf({ operation, controls }: Form): string {
	const pairs: string[] = []
	for (const { spec, initial, json } of controls) {
		const text = json()
		if (text === undefined) continue
		if (operation.method === 'PATCH' && initial !== undefined && sameJson(text, initial)) continue
		pairs.push(`${JSON.stringify(spec.name)}:${text}`)
	}
	return `{${pairs.join(',')}}`
}

function curlOf(form: Form): string {
	const { app, operation } = form
	const body = bodyOf(form)
	return lineFor(app, { method: operation.method, body, headers: app.headersFor(operation.method, body) })
}

function complain(
	{ controls, mode }: Form,
	alert: HTMLElement,
	message: string,
	problems: readonly Problem[],
	more: readonly HTMLElement[],
): void {
	const left = new Set(problems)
	let first: FieldControl | undefined
	for (const control of controls) {
		const own = problems.filter(({ field }) => mode === 'fields' && rootOf(field) === control.spec.name)
		for (const one of own) left.delete(one)
		control.complain(own.map((one) => one.message).join(', '))
		if (own.length > 0) first ??= control
	}
	const items = [...left].map(({ field, message: text }) =>
		el('li', {}, field === '' ? text : `${field}: ${text}`),
	)
	alert.replaceChildren(
		...(message === '' ? [] : [el('p', {}, message)]),
		...(items.length > 0 ? [el('ul', {}, ...items)] : []),
		...more,
	)
	first?.focus()
}

/** `tags[0]` is a problem of `tags`. */
function rootOf(field: string): string {
	return field.split(/[.[]/, 1)[0] ?? field
}

function keepDraft({ app, operation, controls, raw, file, mode }: Form): void {
	const fields = new Map<string, string>()
	for (const { spec, draft } of controls) {
		const text = draft()
		if (text !== undefined) fields.set(spec.name, text)
	}
	app.drafts.set(operation.method, { mode, fields, json: raw.value, file: file?.draft() })
}

function restoreDraft(form: Form): void {
	const draft = form.app.drafts.get(form.operation.method)
	if (draft === undefined) return
	for (const { spec, restore } of form.controls) {
		const text = draft.fields.get(spec.name)
		if (text !== undefined) restore(text)
	}
	form.raw.value = draft.json
	if (draft.file !== undefined) form.file?.restore(draft.file)
	if (form.modes.includes(draft.mode)) form.mode = draft.mode
}

interface FilePart {
	readonly element: HTMLElement
	/** `undefined` where no file is chosen. */
	body(): File | FormData | undefined
	draft(): FileDraft
	restore(draft: FileDraft): void
}

function filePart(prefix: string): FilePart {
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
