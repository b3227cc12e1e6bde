/** The control of one field: its value as JSON, and whether the user has changed it. */
import { el, option, star } from './dom.ts'
import { controlText, type FieldSpec, jsonOf } from './fields.ts'
import { type JsonValue, textOf } from './json-value.ts'

export interface FieldControl {
	readonly spec: FieldSpec
	readonly element: HTMLElement
	/** Its first value, as JSON; `undefined` where it isn't known. */
	readonly initial: string | undefined
	/** Its value as JSON; `undefined` where it has none. */
	json(): string | undefined
	/** Its state, for {@link FieldControl.restore}; `undefined` where the user hasn't changed it. */
	draft(): string | undefined
	restore(draft: string): void
	/** Shows what is wrong with it; an empty text removes that. */
	complain(text: string): void
	focus(): void
}

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** In drafts: null, which no text of a control begins with. */
const NULL_DRAFT = '\u0000null'

export function fieldControl(prefix: string, spec: FieldSpec, value: JsonValue | undefined): FieldControl {
	// An id with a blank in it can't be pointed at.
	const id = `${prefix}-${spec.name.replaceAll(/[^\w-]/g, (char) => `.${char.charCodeAt(0)}`)}`
	const input = inputFor(spec, value)
	const nothing =
		spec.isNullable && spec.kind !== 'boolean' && spec.kind !== 'choice' ? nullBox(value) : undefined
	const hint = spec.hint === '' ? undefined : el('p', { class: 'hint', id: `${id}-hint` }, spec.hint)
	const wrong = el('p', { class: 'wrong', id: `${id}-wrong` })
	input.id = id
	input.setAttribute('data-key', id)
	input.setAttribute('aria-describedby', `${hint === undefined ? '' : `${hint.id} `}${wrong.id}`)
	if (spec.isRequired) input.setAttribute('aria-required', 'true')
	let isTouched = false
	const touch = () => {
		isTouched = true
	}
	input.addEventListener('input', () => {
		touch()
		if (nothing !== undefined) nothing.checked = false
	})
	nothing?.addEventListener('change', touch)
	const element = el('div', { class: `field ${spec.kind}` }, fieldHead(id, spec, nothing), input, hint, wrong)
	return {
		spec,
		element,
		initial: value === undefined ? undefined : textOf(value),
		json: () => (nothing?.checked ? 'null' : jsonIn(spec, input, isTouched, value)),
		draft: () => (!isTouched ? undefined : nothing?.checked ? NULL_DRAFT : stateOf(input)),
		restore(draft) {
			isTouched = true
			if (nothing !== undefined) nothing.checked = draft === NULL_DRAFT
			if (draft !== NULL_DRAFT) putState(input, draft)
		},
		complain(text) {
			wrong.textContent = text
			if (text === '') input.removeAttribute('aria-invalid')
			else input.setAttribute('aria-invalid', 'true')
		},
		focus: () => input.focus(),
	}
}

function fieldHead(
	id: string,
	{ name, isRequired }: FieldSpec,
	nothing: HTMLInputElement | undefined,
): HTMLElement {
	const whose = el('span', { class: 'hidden' }, ` for ${name}`)
	return el(
		'div',
		{ class: 'field-head' },
		el('label', { for: id }, name, isRequired && star()),
		nothing !== undefined && el('label', { class: 'check' }, nothing, 'null', whose),
	)
}

function nullBox(value: JsonValue | undefined): HTMLInputElement {
	const box = el('input', { type: 'checkbox' })
	box.checked = value === null
	return box
}

function inputFor(spec: FieldSpec, value: JsonValue | undefined): Input {
	const text = value === undefined ? '' : controlText(spec.kind, value)
	switch (spec.kind) {
		case 'boolean':
			return spec.isNullable || !spec.isRequired ? choice(spec, ['true', 'false'], value) : checkbox(value)
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

function filled<Control extends HTMLInputElement | HTMLTextAreaElement>(
	control: Control,
	text: string,
): Control {
	control.value = text
	return control
}

function checkbox(value: JsonValue | undefined): HTMLInputElement {
	const box = el('input', { type: 'checkbox' })
	box.checked = value === true
	return box
}

/** Values are JSON texts; the empty one is none. */
function choice(
	{ isNullable }: FieldSpec,
	choices: readonly string[],
	value: JsonValue | undefined,
): HTMLSelectElement {
	const now = value === undefined ? '' : textOf(value)
	const values = isNullable ? [...choices, 'null'] : [...choices]
	if (now !== '' && !values.includes(now)) values.push(now)
	const select = el(
		'select',
		{},
		...values.map((one) => option(one, one.replace(/^"(.*)"$/s, '$1'), one === now)),
	)
	if (now === '') select.prepend(option('', '—', true))
	return select
}

function jsonIn(
	spec: FieldSpec,
	input: Input,
	isTouched: boolean,
	value: JsonValue | undefined,
): string | undefined {
	if (input instanceof HTMLInputElement && input.type === 'checkbox') return String(input.checked)
	if (!isTouched) return value === undefined ? undefined : textOf(value)
	const text = input.value
	if (text !== '') return jsonOf(spec.kind, text)
	// Nothing is an empty text where there was a text, or where there must be one; elsewhere it is no value at all.
	const isText = spec.kind === 'text' || spec.kind === 'long'
	if (isText && (spec.isRequired || value !== undefined)) return '""'
	return value === undefined ? undefined : 'null'
}

function stateOf(input: Input): string {
	return input instanceof HTMLInputElement && input.type === 'checkbox' ? String(input.checked) : input.value
}

function putState(input: Input, state: string): void {
	if (input instanceof HTMLInputElement && input.type === 'checkbox') input.checked = state === 'true'
	else input.value = state
}
