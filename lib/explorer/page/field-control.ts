/** The form control of one field, with its value as JSON and its draft. */
import { checkbox, el, option, requiredMark } from './dom.ts'
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
	/** Sets its value, and the name to show for it. @param isInitial whether this isn't a change */
	set(value: JsonValue, name?: string, isInitial?: boolean): void
	/** Its input, if it is a line of text. */
	readonly input: HTMLInputElement | undefined
	/** Shows an error message; an empty text removes it. */
	showError(text: string): void
	focus(): void
}

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The draft of null; no text of a control begins with U+0000. */
const NULL_DRAFT = '\u0000null'
/** The prefix of the draft of a value that is shown by a name; a line break separates the two. */
const NAMED_DRAFT = '\u0000named'

const NAMED = new RegExp(`^${NAMED_DRAFT}(.*)\n(.*)$`)

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
	const sent = el('p', { class: 'hint', id: `${id}-sent` })
	const notes = [hint, sent, error].filter((one) => one !== undefined)
	input.setAttribute('aria-describedby', notes.map((one) => one.id).join(' '))
	if (spec.isRequired) input.setAttribute('aria-required', 'true')
	let isTouched = false
	const named = namedValue(spec, input, hint, sent)
	const touch = () => {
		isTouched = true
	}
	input.addEventListener('input', () => {
		touch()
		if (named.json !== undefined) named.show(undefined, input.value)
		if (nullBox !== undefined) nullBox.checked = false
	})
	nullBox?.addEventListener('change', touch)
	const element = el('div', { class: `field ${spec.kind}` }, fieldHead(id, spec, nullBox), input, ...notes)
	return {
		spec,
		element,
		initial: value === undefined ? undefined : textOf(value),
		json: () => (nullBox?.checked ? 'null' : (named.json ?? jsonIn(spec, input, isTouched, value))),
		draft() {
			if (!isTouched) return undefined
			if (nullBox?.checked) return NULL_DRAFT
			return named.json === undefined ? draftOf(input) : `${NAMED_DRAFT}${named.json}\n${input.value}`
		},
		set(next, name, isInitial = false) {
			isTouched = !isInitial
			if (nullBox !== undefined) nullBox.checked = next === null
			named.show(name === undefined ? undefined : textOf(next), name ?? controlText(spec.kind, next))
		},
		input: input instanceof HTMLInputElement && input.type === 'text' ? input : undefined,
		restore(draft) {
			isTouched = true
			if (nullBox !== undefined) nullBox.checked = draft === NULL_DRAFT
			if (draft === NULL_DRAFT) return
			const [, json, name] = NAMED.exec(draft) ?? []
			if (json !== undefined) return named.show(json, name ?? '')
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

/** Shows a name in the input, and below it the value that is sent instead. */
function namedValue({ name }: FieldSpec, input: Input, hint: HTMLElement | undefined, sent: HTMLElement) {
	return {
		json: undefined as string | undefined,
		show(json: string | undefined, text: string) {
			this.json = json
			input.value = text
			if (hint !== undefined) hint.hidden = json !== undefined
			sent.textContent = json === undefined ? '' : `${name} ${json.replace(/^"(.*)"$/s, '$1')}`
		},
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
