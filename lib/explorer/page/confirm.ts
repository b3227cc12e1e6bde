/** Forms with only a button, and the dialog that confirms a deletion. */
import type { App } from './app.ts'
import { alertOf, type BodyForm } from './body-form.ts'
import { button, el } from './dom.ts'
import { canRestore } from './submit.ts'

/** A form without fields, and where its problems are shown. */
export function buttonForm(): BodyForm & { readonly alert: HTMLElement } {
	const alert = el('div', { class: 'alert', role: 'alert' })
	const showProblems: BodyForm['showProblems'] = (message, problems, ...more) =>
		alert.replaceChildren(...alertOf(message, problems), ...more)
	return { element: el('form'), showProblems, alert }
}

/** @param what describes what would be deleted; called when the dialog opens */
export function confirmDialog(
	app: App,
	onConfirm: () => void,
	what: () => { readonly name: string; readonly place: string } = () => ({
		...{ name: 'this', place: app.urlFor({ method: 'DELETE' }) },
	}),
): { dialog: HTMLDialogElement; open: () => void } {
	const dialog = el('dialog', { 'aria-labelledby': 'delete-title' })
	const title = el('h2', { id: 'delete-title' })
	const path = el('p', { class: 'path' })
	const cancel = button('Cancel', {}, () => dialog.close())
	const confirm = button('Delete', { class: 'danger' }, () => {
		dialog.close()
		onConfirm()
	})
	dialog.append(title, path, el('div', { class: 'form-foot' }, cancel, confirm))
	const open = () => {
		const { name, place } = what()
		title.textContent = `Delete ${name}${canRestore(app) ? '' : ' for good'}?`
		path.textContent = place
		dialog.showModal()
		cancel.focus()
	}
	return { dialog, open }
}
