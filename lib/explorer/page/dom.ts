/** Makes elements: of texts, never of markup. */
import { isPath } from './path.ts'

type Attributes = Readonly<Record<string, string | boolean | undefined>>
export type Child = Node | string | undefined | false

/** An element. An attribute that is `true` is there without a value; one that is `false` isn't. */
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

/** A button that does something. `key` finds it again when the page is made anew. */
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

/** A link; the text alone for a URL that leads to no path of this server, and to no page of the web. */
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

/** Behind the label of what must be given: for eyes, as `aria-required` is for ears. */
export function star(): HTMLElement {
	return el('span', { class: 'required', 'aria-hidden': 'true' }, ' *')
}

export function option(value: string, text: string, selected: boolean): HTMLOptionElement {
	return el('option', { value, selected }, text)
}
