/** A form for a request body, entered as fields, as JSON or as a file. */
import type { OperationData, RelationData } from '../page-data.ts'
import { prettyJson } from '../pretty-json.ts'
import { type App, type BodyMode, type FileDraft, keyOf } from './app.ts'
import { choiceOf } from './choice.ts'
import type { Problem } from './content.ts'
import type { Body } from './curl.ts'
import { copyButton, lineFor } from './curl-box.ts'
import { button, el, onSubmit } from './dom.ts'
import { type FieldControl, fieldControl } from './field-control.ts'
import { fieldsOf, sameJson } from './fields.ts'
import { isRecord, type JsonValue, parseJson } from './json-value.ts'
import { changesOf } from './list-query.ts'
import type { RelatedNames, Row } from './related-names.ts'
import { changesSelected, problemsOf, SELECT_FIRST, selectedNote, selectedRows } from './together.ts'

export interface BodyForm {
	readonly element: HTMLFormElement
	/** Shows problems beside their fields, other problems above the form, and focuses the first invalid field. */
	showProblems(message: string, problems: readonly Problem[], ...more: readonly HTMLElement[]): void
}

/** What a form needs to know about its records' relations and its place. */
export interface FormContext {
	readonly relations: readonly RelationData[]
	/** The names of the record's related records; `undefined` without a record. */
	readonly names: RelatedNames | undefined
	/** Called after a success, instead of loading the page again. */
	readonly onDone?: () => void
}

interface Form {
	readonly app: App
	readonly operation: OperationData
	readonly controls: readonly FieldControl[]
	readonly raw: HTMLTextAreaElement
	readonly file: FilePart | undefined
	/** The available modes, the default first. */
	readonly modes: readonly BodyMode[]
	mode: BodyMode
	/** The selected records when the form was last sent; `undefined` if the form doesn't change those. */
	rows: readonly Row[] | undefined
}

/** @param send is called with the body, if there is one */
export function bodyForm(
	app: App,
	operation: OperationData,
	record: JsonValue | undefined,
	send: (body: Body | undefined, form: BodyForm) => void,
	{ relations, names }: FormContext = { relations: [], names: undefined },
): BodyForm {
	const prefix = prefixOf(operation)
	const form = formOf(app, operation, prefix, record)
	for (const control of form.controls) {
		const relation = relations.find(({ by }) => by.at(-1)?.[0] === control.spec.name)
		if (relation !== undefined) addChoice(form, control, relation, record, names)
	}
	const alert = el('div', { class: 'alert', role: 'alert' })
	const element = el(
		'form',
		{ novalidate: true, autocomplete: 'off' },
		alert,
		...modeParts(form),
		el(
			'div',
			{ class: 'form-foot' },
			el(
				'button',
				{ type: 'submit', class: 'primary', 'data-key': `${prefix} send` },
				SUBMIT_LABELS[operation.method] ?? `Send ${operation.method}`,
			),
			...modeButtons(form),
			copyButton(() => curlOf(form), 'Copy as curl'),
		),
	)
	const bodyForm: BodyForm = {
		element,
		showProblems: (message, problems, ...more) => showProblems(form, alert, message, problems, more),
	}
	element.addEventListener('input', () => saveDraft(form))
	onSubmit(element, () => {
		saveDraft(form)
		form.rows &&= selectedRows(app)
		bodyForm.showProblems('', [])
		const body = bodyOf(form)
		const missing = missingIn(form, body)
		if (missing === undefined) return send(body, bodyForm)
		bodyForm.showProblems(missing, [])
		focusIn(element)
	})
	return bodyForm
}

function formOf(app: App, operation: OperationData, prefix: string, record: JsonValue | undefined): Form {
	const { body, matched } = operation
	const isOfSelected = changesSelected(app, operation)
	const specs = fieldsOf(isOfSelected ? body?.items : body)?.filter(({ name }) => !matched?.includes(name))
	const values = isRecord(record) ? record : undefined
	const controls = (specs ?? []).map((spec) => fieldControl(prefix, spec, values?.get(spec.name)))
	const modes: readonly BodyMode[] = specs === undefined ? ['json'] : ['fields', 'json']
	const raw = el('textarea', { class: 'json', rows: '8', spellcheck: 'false', id: `${prefix}-json` })
	const file = takesFile(operation) ? filePart(prefix) : undefined
	const withFile: readonly BodyMode[] = operation.isStreaming ? ['file', ...modes] : [...modes, 'file']
	const all = file === undefined ? modes : withFile
	const rows = isOfSelected ? [] : undefined
	const form: Form = { app, operation, controls, raw, file, modes: all, mode: all[0] ?? 'json', rows }
	restoreDraft(form)
	return form
}

/** Lets the user choose a foreign key's record by its name; the key can still be typed. */
function addChoice(
	form: Form,
	control: FieldControl,
	relation: RelationData,
	record: JsonValue | undefined,
	names: RelatedNames | undefined,
): void {
	const { input } = control
	const { choice, by } = relation
	if (choice === undefined || input === undefined) return
	const place = el('span')
	input.replaceWith(place)
	const pick = (chosen: Row, name: string) => {
		for (const [own, other] of by) {
			const value = chosen.get(other)
			const found = form.controls.find(({ spec }) => spec.name === own)
			if (value !== undefined) found?.set(value, found === control ? name : undefined)
		}
		saveDraft(form)
	}
	place.replaceWith(choiceOf({ app: form.app, input, relation, choice, pick }))
	// The name is that of the whole key: it is removed when another part of the key is typed.
	for (const [own] of by.slice(0, -1))
		form.controls
			.find(({ spec }) => spec.name === own)
			?.element.addEventListener('input', () => {
				const value = parseJson(control.json() ?? '')
				if (value !== undefined) control.set(value, undefined, control.draft() === undefined)
			})
	if (!isRecord(record)) return
	const value = record.get(control.spec.name) ?? null
	names?.whenNamed(relation, record, (name) => {
		if (value !== null && control.draft() === undefined) control.set(value, name, true)
	})
}

/** The prefix of the ids of a form's controls: `post`, or `post-comments` below a record. */
function prefixOf({ method, url }: OperationData): string {
	const below = url === undefined ? '' : `-${url.split('/').at(-1)}`
	return method.toLowerCase() + below
}

/** Whether the body may be any bytes: it is read as a stream, or isn't declared. */
function takesFile({ method, body, isStreaming }: OperationData): boolean {
	return isStreaming || (body === undefined && method !== 'QUERY' && method !== 'DELETE')
}

/** The inputs of each mode; only those of the current one are visible. */
function modeParts({ app, controls, raw, file, modes, mode, rows }: Form): HTMLElement[] {
	const inputs = controls.map(({ element }) => element)
	const parts: Readonly<Record<BodyMode, () => HTMLElement | undefined>> = {
		fields: () => el('div', { class: 'inputs' }, rows && selectedNote(app), ...inputs),
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

const MODE_LABELS: Readonly<Record<BodyMode, string>> = { fields: 'Fields', json: 'JSON', file: 'File' }

/**
 * A button for each mode but the current one. When clicked, it hides itself, so it moves the focus to the first input.
 */
function modeButtons(form: Form): HTMLElement[] {
	if (form.modes.length === 1) return []
	const buttons = form.modes.map((mode) => {
		const own = button(MODE_LABELS[mode], { class: 'small', hidden: mode === form.mode }, () => {
			if (form.mode === 'fields' && mode === 'json') form.raw.value = prettyJson(jsonOf(form))
			form.mode = mode
			for (const one of buttons) one.hidden = one === own
			for (const part of own.form?.querySelectorAll<HTMLElement>('[data-mode]') ?? [])
				part.hidden = part.dataset.mode !== mode
			focusIn(own.form)
			saveDraft(form)
		})
		return own
	})
	return buttons
}

/** Focuses the first input of a form, in its current mode. */
export function focusIn(form: HTMLElement | null | undefined): void {
	const inputs = '[data-mode]:not([hidden]) :is(input, select, textarea):not(.check *)'
	form?.querySelector<HTMLElement>(inputs)?.focus()
}

const SUBMIT_LABELS: Readonly<Record<string, string>> = {
	...{ POST: 'Create', PATCH: 'Save changes', PUT: 'Replace', DELETE: 'Delete…' },
}

function bodyOf(form: Form): Body | undefined {
	const { mode, raw, file } = form
	if (mode === 'file') return file?.body()
	if (mode === 'fields') return jsonOf(form)
	return raw.value.trim() === '' ? undefined : raw.value
}

/** Why a form can't be sent yet; `undefined` if it can. */
function missingIn(form: Form, body: Body | undefined): string | undefined {
	if (form.mode === 'file') return body === undefined ? 'Choose a file first.' : undefined
	if (form.mode === 'json' || form.rows === undefined) return undefined
	if (form.rows.length === 0) return SELECT_FIRST
	return membersOf(form) === '' ? 'Nothing is filled in, so nothing was sent.' : undefined
}

/** The fields as JSON. */
function jsonOf(form: Form): string {
	const { app, operation, rows } = form
	const members = membersOf(form)
	if (rows === undefined) return `{${members}}`
	return changesOf(selectedRows(app), operation.matched ?? [], members)
}

/** The fields as the members of an object; for a PATCH only the changed ones. */
function membersOf({ operation, controls }: Form): string {
	const pairs: string[] = []
	for (const { spec, initial, json } of controls) {
		const text = json()
		if (text === undefined) continue
		if (operation.method === 'PATCH' && initial !== undefined && sameJson(text, initial)) continue
		pairs.push(`${JSON.stringify(spec.name)}:${text}`)
	}
	return pairs.join(',')
}

function curlOf(form: Form): string {
	const { app, operation } = form
	const body = bodyOf(form)
	return lineFor(app, { target: operation, body, headers: app.headersFor(operation, body) })
}

function showProblems(
	{ app, controls, mode, rows }: Form,
	alert: HTMLElement,
	message: string,
	given: readonly Problem[],
	more: readonly HTMLElement[],
): void {
	const problems = mode === 'fields' && rows !== undefined ? problemsOf(app, rows, given) : given
	const rest = new Set(problems)
	let first: FieldControl | undefined
	for (const control of controls) {
		const own = problems.filter(({ field }) => mode === 'fields' && rootOf(field) === control.spec.name)
		for (const one of own) rest.delete(one)
		control.showError(own.map((one) => one.message).join(', '))
		if (own.length > 0) first ??= control
	}
	alert.replaceChildren(...alertOf(message, [...rest]), ...more)
	first?.focus()
}

/** A message above a form, with the problems below it. */
export function alertOf(message: string, problems: readonly Problem[]): HTMLElement[] {
	const items = problems.map(({ field, message: text }) =>
		el('li', {}, field === '' ? text : `${field}: ${text}`),
	)
	return [
		...(message === '' ? [] : [el('p', {}, message)]),
		...(items.length > 0 ? [el('ul', {}, ...items)] : []),
	]
}

/** The top-level field of a path: `tags` for `tags[0]`. */
function rootOf(field: string): string {
	return field.split(/[.[]/, 1)[0] ?? field
}

function saveDraft({ app, operation, controls, raw, file, mode }: Form): void {
	const fields = new Map<string, string>()
	for (const { spec, draft } of controls) {
		const text = draft()
		if (text !== undefined) fields.set(spec.name, text)
	}
	app.drafts.set(keyOf(operation), { mode, fields, json: raw.value, file: file?.draft() })
}

function restoreDraft(form: Form): void {
	const draft = form.app.drafts.get(keyOf(form.operation))
	if (draft === undefined) return
	for (const { spec, restore } of form.controls) {
		const text = draft.fields.get(spec.name)
		if (text !== undefined) restore(text)
	}
	form.raw.value = draft.json
	if (draft.file !== undefined) form.file?.restore(draft.file)
	if (form.modes.includes(draft.mode)) form.mode = draft.mode
}

type FilePart = ReturnType<typeof filePart>

/** The inputs of a file, with its body, which is undefined if no file is chosen, and its draft. */
function filePart(prefix: string) {
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
		body(): File | FormData | undefined {
			const chosen = file.files?.[0]
			if (chosen === undefined || part.value === '') return chosen
			const form = new FormData()
			form.append(part.value, chosen)
			return form
		},
		draft: (): FileDraft => ({ files: file.files, part: part.value }),
		restore(draft: FileDraft) {
			file.files = draft.files
			part.value = draft.part
		},
	}
}
