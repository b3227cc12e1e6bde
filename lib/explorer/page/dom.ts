/** Creates elements from texts, never from markup. */
import { isPath } from './path.ts'

type Attributes = Readonly<Record<string, string | boolean | undefined>>
export type Child = Node | string | undefined | false

/** Creates an element. An attribute that is `true` is set without a value; `false` omits it. */
export function el<Name extends keyof HTMLElementTagNameMap>(
	name: Name,
	attributes: Attributes = {},
	...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
	const element = document.createElement(name)
	for (const [key, value] of Object.entries(attributes)) {
		if (value === undefined || value === false) continue
		element.setAttribute(key, value === true ? '' : value)
	}
	for (const child of children) if (child !== undefined && child !== false) element.append(child)
	return element
}

/** A button. Its attribute `data-key` restores the focus after rendering. */
export function button(
	text: string | readonly Child[],
	attributes: Attributes,
	onClick: () => void,
): HTMLButtonElement {
	const children = typeof text === 'string' ? [text] : text
	const element = el('button', { type: 'button', ...attributes }, ...children)
	element.addEventListener('click', onClick)
	return element
}

export function checkbox(isChecked: boolean, attributes: Attributes = {}): HTMLInputElement {
	const box = el('input', { type: 'checkbox', ...attributes })
	box.checked = isChecked
	return box
}

/** A form's submit listener, in place of the browser's own submission. */
export function onSubmit<Form extends HTMLFormElement>(form: Form, act: () => void): Form {
	form.addEventListener('submit', (event) => {
		event.preventDefault()
		act()
	})
	return form
}

/** A link; only its text for a URL that is neither a path of this server nor an HTTP URL. */
export function link(url: string, text: string, attributes: Attributes = {}): HTMLElement {
	if (isPath(url)) return el('a', { ...attributes, href: url }, text)
	if (!/^https?:\/\/[^\s<>"]+$/i.test(url)) return el('span', attributes, text)
	return el('a', { ...attributes, href: url, rel: 'noreferrer' }, text)
}

/** A label with its control. */
export function labelled(
	text: string | readonly Child[],
	control: HTMLElement,
	attributes: Attributes = {},
): HTMLLabelElement {
	return el('label', attributes, el('span', {}, ...(typeof text === 'string' ? [text] : text)), control)
}

/** The mark of a required field, for sighted users; the input has `aria-required`. */
export function requiredMark(): HTMLElement {
	return el('span', { class: 'required', 'aria-hidden': 'true' }, ' *')
}

export function option(value: string, text: string, selected: boolean): HTMLOptionElement {
	return el('option', { value, selected }, text)
}
