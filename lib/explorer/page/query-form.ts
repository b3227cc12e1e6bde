/** The form for the query parameters of a GET other than those of a list, such as totals. Called by `actions.ts`. */
import type { ParameterShape } from '../../validate/schema/shape.ts'
import type { OperationData } from '../page-data.ts'
import type { App } from './app.ts'
import { checkbox, el, labelled, onSubmit, option, requiredMark } from './dom.ts'
import { pathOf } from './path.ts'

interface ParameterControl {
	readonly element: HTMLElement
	/** The parameter's value; empty for none. */
	value(): string
}

/** Its inputs have no names, because one called `append` would shadow the form's method. */
export function queryForm(app: App, { query }: OperationData): HTMLElement {
	const path = pathOf(app.url)
	const current = [...new URLSearchParams(app.url.slice(path.length))]
	const conditions = current.filter(([name]) => query.some((one) => one.name === name && one.role))
	const controls = query
		.filter(({ role }) => role === undefined)
		.map((parameter) => {
			const value = current.find(([name]) => name === parameter.name)?.[1] ?? ''
			return [parameter.name, controlFor(parameter, value)] as const
		})
	const ask = el('button', { type: 'submit', class: 'primary', 'data-key': 'ask' }, 'Ask')
	const form = el(
		'form',
		{},
		el('div', { class: 'inputs' }, ...controls.map(([, { element }]) => element)),
		el('div', { class: 'form-foot' }, ask),
	)
	return onSubmit(form, () => {
		const given = controls.map(([name, control]) => [name, control.value()] as const)
		const pairs = [...given.filter(([, value]) => value !== ''), ...conditions]
		const text = new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString()
		void app.go(text === '' ? path : `${path}?${text}`)
	})
}

function controlFor(parameter: ParameterShape, value: string): ParameterControl {
	const { schema, written, description, name, required } = parameter
	const hint = description !== undefined && el('p', { class: 'hint' }, description)
	const names = schema.items?.enum
	if (written === 'joined' && names !== undefined) return checkboxes(name, names.map(String), value, hint)
	const input = schema.enum === undefined ? el('input', { type: 'text' }) : choice(schema.enum, value)
	input.value = value
	if (required) input.setAttribute('aria-required', 'true')
	const label = labelled([name, required && requiredMark()], input)
	return { element: el('div', { class: 'field' }, label, hint), value: () => input.value }
}

function choice(values: readonly unknown[], value: string): HTMLSelectElement {
	const all = [...new Set(['', ...values.map(String), value])]
	return el('select', {}, ...all.map((one) => option(one, one || '—', false)))
}

/** Names separated by commas, in the order in which they are chosen. */
function checkboxes(
	name: string,
	names: readonly string[],
	value: string,
	hint: HTMLElement | false,
): ParameterControl {
	// Names that aren't known stay, so that the server's answer says what is wrong with them.
	const chosen = new Set(value === '' ? [] : value.split(','))
	const boxes = [...new Set([...names, ...chosen])].map((one) => {
		const box = checkbox(chosen.has(one))
		box.addEventListener('change', () => {
			if (box.checked) chosen.add(one)
			else chosen.delete(one)
		})
		return el('label', { class: 'check' }, box, one)
	})
	const element = el('fieldset', { class: 'checks' }, el('legend', {}, name), ...boxes, hint)
	return { element, value: () => [...chosen].join() }
}
