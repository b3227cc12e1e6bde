/** The form control of one field, with its value as JSON and its draft. */
import { el, option, requiredMark } from './dom.ts'
import { controlText, type FieldSpec, jsonOf } from './fields.ts'
import { type JsonValue, textOf } from './json-value.ts'

export interface FieldControl {
	readonly spec: FieldSpec
	readonly element: HTMLElement
	/** Its initial value as JSON; `undefined` if unknown. */
	readonly initial: string | undefined
	/** Its value as JSON; `undefined` if it has none. */
	json(): string | undefined
	/** Its state, for {@link FieldControl.restore}; `undefined` if the user hasn't changed it. */
	draft(): string | undefined
	restore(draft: string): void
	/** Shows an error message; an empty text removes it. */
	showError(text: string): void
	focus(): void
}

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The draft of null; no text of a control begins with U+0000. */
const NULL_DRAFT = '\u0000null'

export function fieldControl(prefix: string, spec: FieldSpec, value: JsonValue | undefined): FieldControl {
	// `aria-describedby` separates ids by spaces.
	const id = `${prefix}-${spec.name.replaceAll(/[^\w-]/g, (char) => `.${char.charCodeAt(0)}`)}`
	const input = inputFor(spec, value)
	const hasNullBox = spec.isNullable && spec.kind !== 'boolean' && spec.kind !== 'choice'
	const nullBox = hasNullBox ? checkbox(value === null) : undefined
	const hint = spec.hint === '' ? undefined : el('p', { class: 'hint', id: `${id}-hint` }, spec.hint)
	const error = el('p', { class: 'wrong', id: `${id}-wrong` })
	input.id = id
	input.setAttribute('data-key', id)
	input.setAttribute('aria-describedby', `${hint === undefined ? '' : `${hint.id} `}${error.id}`)
	if (spec.isRequired) input.setAttribute('aria-required', 'true')
	let isTouched = false
	const touch = () => {
		isTouched = true
	}
	input.addEventListener('input', () => {
		touch()
		if (nullBox !== undefined) nullBox.checked = false
	})
	nullBox?.addEventListener('change', touch)
	const element = el('div', { class: `field ${spec.kind}` }, fieldHead(id, spec, nullBox), input, hint, error)
	return {
		spec,
		element,
		initial: value === undefined ? undefined : textOf(value),
		json: () => (nullBox?.checked ? 'null' : jsonIn(spec, input, isTouched, value)),
		draft: () => (!isTouched ? undefined : nullBox?.checked ? NULL_DRAFT : draftOf(input)),
		restore(draft) {
			isTouched = true
			if (nullBox !== undefined) nullBox.checked = draft === NULL_DRAFT
			if (draft === NULL_DRAFT) return
			if (isCheckbox(input)) input.checked = draft === 'true'
			else input.value = draft
		},
		showError(text) {
			error.textContent = text
			if (text === '') input.removeAttribute('aria-invalid')
			else input.setAttribute('aria-invalid', 'true')
		},
		focus: () => input.focus(),
	}
}

function fieldHead(
	id: string,
	{ name, isRequired }: FieldSpec,
	nullBox: HTMLInputElement | undefined,
): HTMLElement {
	const forField = el('span', { class: 'hidden' }, ` for ${name}`)
	return el(
		'div',
		{ class: 'field-head' },
		el('label', { for: id }, name, isRequired && requiredMark()),
		nullBox !== undefined && el('label', { class: 'check' }, nullBox, 'null', forField),
	)
}

function inputFor(spec: FieldSpec, value: JsonValue | undefined): Input {
	const text = value === undefined ? '' : controlText(spec.kind, value)
	switch (spec.kind) {
		case 'boolean':
			if (!spec.isNullable && spec.isRequired) return checkbox(value === true)
			return choice(spec, ['true', 'false'], value)
		case 'choice':
			return choice(spec, spec.choices, value)
		case 'long':
		case 'json':
			return filled(
				el('textarea', { rows: spec.kind === 'long' ? '5' : '2', spellcheck: 'false', class: spec.kind }),
				text,
			)
		case 'date':
			return filled(el('input', { type: 'date' }), text)
		case 'number':
			return filled(el('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off' }), text)
		case 'text':
			if (text.length > 80 || text.includes('\n')) return filled(el('textarea', { rows: '4' }), text)
			return filled(el('input', { type: spec.isSecret ? 'password' : 'text', autocomplete: 'off' }), text)
	}
}

function filled<T extends HTMLInputElement | HTMLTextAreaElement>(control: T, text: string): T {
	control.value = text
	return control
}

function checkbox(isChecked: boolean): HTMLInputElement {
	const box = el('input', { type: 'checkbox' })
	box.checked = isChecked
	return box
}

function isCheckbox(input: Input): input is HTMLInputElement {
	return input instanceof HTMLInputElement && input.type === 'checkbox'
}

/** A select with JSON texts as values, empty for no value. */
function choice(
	{ isNullable }: FieldSpec,
	choices: readonly string[],
	value: JsonValue | undefined,
): HTMLSelectElement {
	const current = value === undefined ? '' : textOf(value)
	const values = isNullable ? [...choices, 'null'] : [...choices]
	if (current !== '' && !values.includes(current)) values.push(current)
	const select = el(
		'select',
		{},
		...values.map((one) => option(one, one.replace(/^"(.*)"$/s, '$1'), one === current)),
	)
	if (current === '') select.prepend(option('', '—', true))
	return select
}

function jsonIn(
	spec: FieldSpec,
	input: Input,
	isTouched: boolean,
	value: JsonValue | undefined,
): string | undefined {
	if (isCheckbox(input)) return String(input.checked)
	if (!isTouched) return value === undefined ? undefined : textOf(value)
	const text = input.value
	if (text !== '') return jsonOf(spec.kind, text)
	// An empty input is an empty text if the field is required or had a value; otherwise it has no value.
	const isText = spec.kind === 'text' || spec.kind === 'long'
	if (isText && (spec.isRequired || value !== undefined)) return '""'
	return value === undefined ? undefined : 'null'
}

function draftOf(input: Input): string {
	return isCheckbox(input) ? String(input.checked) : input.value
}
